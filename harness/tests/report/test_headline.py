"""The sentence on the claim that answers the question of an experiment."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.analyse import claims
from benchbook.report import conclusion


def judged(
    low: float | None, high: float | None, test: str = "ratio", failed: int = 0, cells: int = 1
) -> Any:
    over = SimpleNamespace(levels={"system": "influxdb-1.8.10", "workers": "100"})
    of = SimpleNamespace(levels={"system": "cnosdb-2.4", "workers": "100"})
    sides = SimpleNamespace(cells=(over, of), factors=["system"])
    cell = SimpleNamespace(sides=sides, failed=failed, measured=1.39)
    return SimpleNamespace(
        measured=1.39, low=low, high=high, published=0.9, phase="load", metric="steady_rows_per_second",
        test=test, cells=(cell,) * cells, id="first", verdict="inconclusive",
    )  # fmt: skip


def said(monkeypatch: pytest.MonkeyPatch, *found: Any, question: str | None = None) -> str:
    monkeypatch.setattr(claims, "of_run", lambda *_: list(found))
    titles = {"cnosdb-2.4": "CnosDB 2.4"}
    run: Any = SimpleNamespace(results=None, run_id="run", title=lambda name: titles.get(name, name))
    return conclusion.claim_sentence(run, question).markdown


def test_an_interval_that_includes_1_shows_no_difference(monkeypatch):
    text = said(monkeypatch, judged(0.97, 1.99, cells=2))
    assert "CnosDB 2.4 over influxdb-1.8.10, rows loaded per second once steady" in text.replace("\\", "")
    assert "**1.39** (95 % CI 0.970 to 1.99), over 2 setups of 1.39 to 1.39, published 0.900" in text
    assert text.endswith("so it shows no difference.")


def test_sides_of_one_system_are_told_with_it(monkeypatch):
    one = judged(0.97, 1.99)
    one.cells[0].sides = SimpleNamespace(
        cells=tuple(SimpleNamespace(levels={"system": "cnosdb-2.4", "arm": arm}) for arm in ("a", "b")),
        factors=["arm"],
    )
    assert "CnosDB 2.4: arm b over arm a, rows loaded" in said(monkeypatch, one).replace("\\", "")


def test_an_interval_that_excludes_1_gives_the_direction(monkeypatch):
    assert said(monkeypatch, judged(1.1, 1.99)).endswith(
        "The whole interval is higher; the verdict is: inconclusive."
    )
    assert "whole interval is lower" in said(monkeypatch, judged(0.5, 0.9))
    assert said(monkeypatch, judged(1.1, 1.99, cells=2)).endswith(
        "The mean is higher; the verdict, which considers every setup, is: inconclusive."
    )
    assert "too few trials" in said(monkeypatch, judged(None, None))


def test_with_failures_neither_is_better(monkeypatch):
    text = said(monkeypatch, judged(1.1, 1.99, failed=1))
    assert "1 operation failed" in text
    assert "higher" not in text


def test_a_trend_alone_is_no_answer(monkeypatch):
    assert "did not measure both sides of any claim" in said(monkeypatch, judged(1.1, 1.99, test="rises"))


def test_the_claim_that_the_question_is_about_comes_before_the_first(monkeypatch):
    asked = judged(0.5, 0.9)
    asked.id = "second"
    assert "interval is lower" in said(monkeypatch, judged(1.1, 1.99), asked, question="second")
    assert "interval is higher" in said(monkeypatch, judged(1.1, 1.99), asked)


def test_where_the_one_asked_for_was_not_measured_the_first_answers(monkeypatch):
    asked = judged(0.5, 0.9)
    asked.id, asked.measured = "second", None
    assert "interval is higher" in said(monkeypatch, judged(1.1, 1.99), asked, question="second")


def test_the_arm_of_both_sides_is_named(monkeypatch):
    one = judged(0.97, 1.99)
    for side in one.cells[0].sides.cells:
        side.levels["arm"] = "durable"
    assert "InfluxDB, both durable, rows" in said(monkeypatch, one).replace(
        "influxdb-1.8.10", "InfluxDB"
    ).replace("\\", "")


def test_a_bound_is_not_called_a_published_number(monkeypatch):
    text = said(monkeypatch, judged(1.1, 1.99, test="at-least"))
    assert ", claimed at least 0.900" in text
    assert "published" not in text
