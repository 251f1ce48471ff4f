"""The rate of a load once writing is steady, beside the rate of the whole load.

The rule: the series of rows a second, one interval a second in which every client wrote all the time, is
steady from the earliest place in its first half on from which the rest has no trend
(``analyse.steady.begin``). The last interval, which is no whole second, is left out. A load without such a
part has no steady rate: fewer than 8 whole seconds, or a rate that never came to rest.
"""

from __future__ import annotations

from benchbook.analyse import steady
from benchbook.systems.driver import Event
from benchbook.workloads.measurement import Measurement

WHOLE_NS = 900_000_000
"""A shorter interval is the rest of a load, no whole second."""


def series(intervals: list[Event]) -> list[Event]:
    """Return the intervals in which every client wrote for a whole second."""
    return [
        one for one in intervals
        if one.get("operation") == "write" and one.get("whole", True) and int(one["duration_ns"]) >= WHOLE_NS
    ]  # fmt: skip


def measurements(phase: str, intervals: list[Event], found: float = 1.0) -> list[Measurement]:
    """Return rows and values a second of the steady part, where it begins and how long it is; none without one.

    ``found`` is the share of the acknowledged rows that the system has afterwards; only they count.
    """
    whole = series(intervals)
    rates = [int(one["rows"]) * 1e9 / int(one["duration_ns"]) for one in whole]
    begin = steady.begin(rates)
    if begin is None:
        return []
    part = whole[begin:]
    seconds = sum(int(one["duration_ns"]) for one in part) / 1e9
    rows, values = (found * sum(int(one.get(name) or 0) for one in part) for name in ("rows", "values"))
    return [
        Measurement(phase, "steady_rows_per_second", rows / seconds, "1/s", "higher"),
        Measurement(phase, "steady_values_per_second", values / seconds, "1/s", "higher"),
        Measurement(phase, "steady_from_seconds", int(part[0]["start_ns"]) / 1e9, "s", "none"),
        Measurement(phase, "steady_seconds", seconds, "s", "none"),
    ]
