"""Rates of the operations of a phase, from the totals of its summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def to_last_answer(summary: Mapping[str, Any]) -> float:
    """Return the factor that converts totals of a summary into rates up to the last answer, in 1/s.

    After the duration of a phase, no operation begins, but those in flight are waited for. A rate of whole operations
    within the duration would be 0 for each operation that is longer, and the same for all that fit equally often.

    >>> 1 * to_last_answer({"operations": 1, "drained_operations": 1, "window_ns": 10**9, "duration_ns": 2 * 10**9})
    0.5
    """
    seconds = float(summary["duration_ns"]) / 1e9
    return 1 / seconds if seconds > 0 else 0.0


def per_second(summary: Mapping[str, Any], name: str = "operations") -> float:
    """Return the factor that converts totals of a summary into rates, in 1/s.

    A workload with a duration has a window; rates exclude operations that ended after it.

    >>> 11 * per_second({"operations": 11, "drained_operations": 1, "window_ns": 2 * 10**9, "duration_ns": 3 * 10**9})
    5.0
    >>> 30 * per_second({"rows": 30, "duration_ns": 3 * 10**9}, "rows")
    10.0
    """
    seconds = float(summary.get("window_ns") or summary["duration_ns"]) / 1e9
    if seconds <= 0:
        return 0.0
    total, drained = float(summary[name]), float(summary.get(f"drained_{name}") or 0)
    return (1 - drained / total) / seconds if total > 0 else 1 / seconds
