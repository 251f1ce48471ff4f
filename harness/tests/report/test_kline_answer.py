"""The answer of kline-mysql-vs-kv."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.report.story import story

kline = story("kline-mysql-vs-kv")
Step = kline.Step


def step(stocks: int, label: str, asked: str, value: float, published: float | None = None) -> Step:
    versus: Any = SimpleNamespace(value=value, ratio=SimpleNamespace(low=value / 2, high=value * 2))
    return Step("long", stocks, label, f"Redis 7, {asked}", "MariaDB 10.11", versus, published)


def said(monkeypatch: pytest.MonkeyPatch, *found: Step) -> str:
    monkeypatch.setattr(kline, "steps", lambda _, phase, __: list(found) if phase == "long" else [])
    return kline.answer_sentence(SimpleNamespace()).markdown


def test_the_first_step_is_told_behind_its_service_and_the_last_of_the_store(monkeypatch):
    text = said(
        monkeypatch,
        step(10, "as published", "asked directly", 99),
        step(100, "as published", "asked directly", 50),
        step(100, "as published", "behind a service in Python", 2, 25.0),
        step(100, "all bars decoded", "asked directly", 8),
    )
    assert "Long reads of 100 stocks: Redis 7, behind a service in Python, has 2.00" in text
    assert "the publication has 25.0" in text
    assert "Redis 7, asked directly has 8.00" in text


def test_a_larger_volume_without_both_steps_is_not_the_answer(monkeypatch):
    text = said(
        monkeypatch,
        step(10, "as published", "asked directly", 9),
        step(10, "all bars decoded", "asked directly", 3),
        step(100, "all bars decoded", "asked directly", 8),
    )
    assert "Long reads of 10 stocks" in text


def test_a_run_without_the_last_step_has_no_answer(monkeypatch):
    assert "no volume of this run has both the first and the last step" in said(
        monkeypatch, step(10, "as published", "asked directly", 3)
    )
