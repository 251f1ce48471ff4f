"""The finding in the titles of kline-mysql-vs-kv."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from benchbook.report.story import story

kline = story("kline-mysql-vs-kv")
Step = kline.Step


def step(stocks: int, label: str, access: str, value: float, published: float | None = None) -> Step:
    versus: Any = SimpleNamespace(value=value, ratio=SimpleNamespace(low=value / 2, high=value * 2))
    return Step("long", stocks, label, f"Redis 7, {access}", "MariaDB 10.11", versus, published)


def test_the_first_step_uses_the_service_and_the_last_the_store():
    found = [
        step(10, "as published", "direct access", 99),
        step(100, "as published", "direct access", 50),
        step(100, "as published", "behind a service in Python", 2, 25.0),
        step(100, "all bars decoded", "direct access", 8),
    ]
    assert kline._finding(found) == "2.00 with the published method, 8.00 with the same work, at 100 stocks"


def test_each_step_is_that_of_the_largest_volume():
    found = [
        step(10, "as published", "direct access", 9),
        step(10, "all bars decoded", "direct access", 3),
        step(100, "all bars decoded", "direct access", 8),
    ]
    assert kline._finding(found) == "9.00 with the published method, 8.00 with the same work, at 100 stocks"


def test_a_run_without_the_last_step_names_only_the_first():
    assert kline._finding([step(10, "as published", "direct access", 3)]) == (
        "3.00 with the published method, at 10 stocks"
    )
