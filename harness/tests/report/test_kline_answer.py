"""The answer of kline-mysql-vs-kv."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.report.story import story

kline = story("kline-mysql-vs-kv")
Step = kline.Step


def step(stocks: int, label: str, access: str, value: float, published: float | None = None) -> Step:
    versus: Any = SimpleNamespace(value=value, ratio=SimpleNamespace(low=value / 2, high=value * 2))
    return Step("long", stocks, label, f"Redis 7, {access}", "MariaDB 10.11", versus, published)


def said(monkeypatch: pytest.MonkeyPatch, *found: Step) -> str:
    monkeypatch.setattr(kline, "steps", lambda _, phase, __: list(found) if phase == "long" else [])
    return kline.answer_sentence(SimpleNamespace()).markdown


def test_the_first_step_uses_the_service_and_the_last_the_store(monkeypatch):
    text = said(
        monkeypatch,
        step(10, "as published", "direct access", 99),
        step(100, "as published", "direct access", 50),
        step(100, "as published", "behind a service in Python", 2, 25.0),
        step(100, "all bars decoded", "direct access", 8),
    )
    assert "Long reads of 100 stocks: with the published method, " in text
    assert "Redis 7, behind a service in Python reaches 2.00" in text
    assert "the publication has 25.0" in text
    assert "with the same work, Redis 7, direct access reaches 8.00" in text


def test_a_larger_volume_without_both_steps_is_not_the_answer(monkeypatch):
    text = said(
        monkeypatch,
        step(10, "as published", "direct access", 9),
        step(10, "all bars decoded", "direct access", 3),
        step(100, "all bars decoded", "direct access", 8),
    )
    assert "Long reads of 10 stocks" in text


def test_a_run_without_the_last_step_has_no_answer(monkeypatch):
    assert "no volume of this run has both the first and the last step" in said(
        monkeypatch, step(10, "as published", "direct access", 3)
    )
