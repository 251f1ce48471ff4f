"""Label the pace of a phase (steady, warming, drifting), and compute the rate of the steady part of a load."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from statistics import fmean, median
from typing import Literal

from benchbook.measure.measurement import Event, Measurement

Label = Literal["steady", "warming", "drifting", "short"]
"""``short``: fewer than 8 intervals, too few for a label. ``drifting``: in the second half, the rate has a trend
(Mann-Kendall, 5 % level) of more than 10 %. ``warming``: no drift, but the median of the first quarter differs by more
than 10 % from that of the second half, and the two differ by more than chance (Mann-Whitney, exact, 5 % level), which
takes at least 12 intervals. ``steady``: none of these."""

FEWEST_INTERVALS = 8
TOLERANCE = 0.1
ALPHA = 0.05
_CRITICAL_VALUE = 1.96
"""Two-sided 5 % of the normal distribution."""
MOST_SPANS = 60
"""Longer series are averaged over this many equal spans."""


def label(rates: Sequence[float], tolerance: float = TOLERANCE) -> Label:
    """Return the label of the rates (or latencies) of equal intervals of one phase, in order of time.

    >>> label([5.0, 8.0, 9.0] + [10.0] * 10)
    'warming'
    """
    if len(rates) < FEWEST_INTERVALS:
        return "short"
    rates = _spans(rates)[1]
    later = rates[len(rates) // 2 :]
    level = median(later)
    if level == 0:
        return "steady" if not any(rates) else "drifting"
    if _drifts(later, tolerance):
        return "drifting"
    first = rates[: len(rates) // 4]
    apart = abs(median(first) - level) > tolerance * abs(level)
    return "warming" if apart and _differ(first, later) else "steady"


def labels(series: Sequence[Sequence[float]], tolerance: float = TOLERANCE) -> list[Label]:
    """Return the ``label`` of each series: 50,000 that are steady take a tenth of a second.

    >>> labels([[10.0] * 12, [1.0]])
    ['steady', 'short']
    """
    import numpy as np

    steady: set[int] = set()
    of_length: dict[int, list[int]] = {}
    for place, rates in enumerate(series):
        of_length.setdefault(len(rates), []).append(place)
    for length, places in of_length.items():
        if not FEWEST_INTERVALS <= length <= MOST_SPANS:
            continue
        values = np.array([series[place] for place in places], dtype=float)
        later = values[:, length // 2 :]
        level = np.median(later, axis=1)
        first, second = np.triu_indices(later.shape[1], 1)
        rising = (later[:, second] > later[:, first]).sum(axis=1)
        score = rising - (later[:, second] < later[:, first]).sum(axis=1)
        trend = np.maximum(np.abs(score) - 1, 0) > _CRITICAL_VALUE * _spread(later.shape[1])
        begin = np.median(values[:, : length // 4], axis=1)
        apart = np.abs(begin - level) > tolerance * np.abs(level)
        plain = (level != 0) & ~trend & ~apart
        steady.update(place for place, one in zip(places, plain.tolist(), strict=True) if one)
    return ["steady" if place in steady else label(rates, tolerance) for place, rates in enumerate(series)]


def _differ(some: Sequence[float], others: Sequence[float]) -> bool:
    """Return whether two samples differ by the Mann-Whitney test: ties count as half in its statistic U."""
    above = sum((one > other) + (one == other) / 2 for one in some for other in others)
    return min(above, len(some) * len(others) - above) <= _largest_u(len(some), len(others))


@functools.cache
def _largest_u(some: int, others: int) -> int:
    """Return the largest U of two samples with an exact two-sided p-value of at most 5 %; -1 if there is none.

    The number of orders of the samples with each U are the coefficients of a Gaussian binomial.
    """
    counts = [1]
    for size in range(1, some + 1):
        longer = [*counts, *[0] * (others + size)]
        for place in range(len(counts)):
            longer[place + others + size] -= counts[place]
        for place in range(size, len(longer)):  # the division by 1 - q^size
            longer[place] += longer[place - size]
        counts = longer[: size * others + 1]
    rarest = math.comb(some + others, some) * ALPHA / 2
    within = [place for place, total in enumerate(itertools.accumulate(counts)) if total <= rarest]
    return len(within) - 1


def steady_begin(rates: Sequence[float], tolerance: float = TOLERANCE) -> int | None:
    """Return the index at which the steady part of a series begins; None if it has none.

    It is the earliest interval in the first half for which two conditions hold. The rest, at least 8 intervals, has no
    trend (as in ``drifting``). The rate of the interval is within the range of the second half of the rest, or at most
    20 % off its median; a system that answers in bursts thus has a steady part too. A series of more than 60 intervals
    is averaged over at most 60 equal spans.

    >>> steady_begin([2.0, 6.0] + [10.0] * 10)
    2
    """
    width, spans = _spans(rates)
    for first in range(len(spans) // 2 + 1):
        rest = spans[first:]
        if (
            len(rest) >= FEWEST_INTERVALS
            and not _drifts(rest, tolerance)
            and _is_typical(rest[0], rest[len(rest) // 2 :], tolerance)
        ):
            return first * width
    return None


def _spans(rates: Sequence[float]) -> tuple[int, list[float]]:
    """Return the number of intervals per span, and the means of the spans: at most 60, as all pairs are compared."""
    width = max(1, math.ceil(len(rates) / MOST_SPANS))
    if width == 1:  # faster, and most series are short
        return 1, [float(rate) for rate in rates]
    return width, [fmean(rates[at : at + width]) for at in range(0, len(rates) - width + 1, width)]


def _drifts(values: Sequence[float], tolerance: float) -> bool:
    """Return whether values have a trend that changes them by more than ``tolerance`` of their median."""
    return _has_trend(values) and abs(_slope(values)) * (len(values) - 1) > tolerance * abs(median(values))


def _is_typical(value: float, others: Sequence[float], tolerance: float) -> bool:
    """Return whether a value is in the range of others, or close to their median."""
    level = median(others)
    return min(others) <= value <= max(others) or abs(value - level) <= 2 * tolerance * level


def _slope(values: Sequence[float]) -> float:
    """Return the change from one interval to the next: the median of all pairs (Theil 1950, Sen 1968)."""
    return median(
        (values[later] - values[earlier]) / (later - earlier)
        for earlier in range(len(values))
        for later in range(earlier + 1, len(values))
    )


def _has_trend(values: Sequence[float]) -> bool:
    """Return whether the Mann-Kendall test finds a trend: more pairs rise than fall, or the reverse, than by chance."""
    count = len(values)
    score = sum(
        (values[later] > values[earlier]) - (values[later] < values[earlier])
        for earlier in range(count)
        for later in range(earlier + 1, count)
    )
    return max(abs(score) - 1, 0) > _CRITICAL_VALUE * _spread(count)


def _spread(count: int) -> float:
    """Return the standard deviation of the Mann-Kendall score of ``count`` values without a trend."""
    return math.sqrt(count * (count - 1) * (2 * count + 5) / 18)


STEADY_FROM = "steady_from_seconds"
"""Metric of the trials that have a steady part."""
WHOLE_NS = 900_000_000
"""A shorter interval is the end of a load, not a whole second."""


def whole_intervals(intervals: list[Event]) -> list[Event]:
    """Return the intervals of a load, about a second each, in which every client wrote all the time."""
    return [
        one for one in intervals
        if one.get("operation") == "write" and one.get("whole", True) and not one.get("drain")
        and int(one["duration_ns"]) >= WHOLE_NS
    ]  # fmt: skip


def measurements(
    phase: str, intervals: list[Event], found: float = 1.0, *, in_flight: int = 0, by_time: bool = False
) -> list[Measurement]:
    """Return rows and values per second of the steady part, where it begins and how long it is.

    The steady part begins when each of the ``in_flight`` operations that clients keep going had its first answer, or
    later. A load that ended ``by_time`` and is steady from then on counts as a whole, from its start to its last
    answer. Of large batches, many rows are in flight: a count that begins before the first answers and ends before the
    last ones would miss them, and one that begins between two rounds of answers depends on where it begins.

    Without a steady part, the rates are those of the second half, and its begin and length are left out: a load that
    never settles is a result too. Too few intervals give nothing. ``found`` is the share of the acknowledged rows that
    the system has afterwards; only they count. The rates named ``acknowledged`` count every acknowledged row, as
    clients do that never look again.
    """
    whole = whole_intervals(intervals)
    rates = [int(one["rows"]) * 1e9 / int(one["duration_ns"]) for one in whole]
    answers = itertools.accumulate(
        int(one.get("operations") or 0) + int(one.get("errors") or 0) for one in whole
    )
    first = sum(1 for answered in answers if answered < in_flight)
    begin = steady_begin(rates[first:])
    if begin is None and len(whole) < 2 * FEWEST_INTERVALS:
        return []
    if begin == 0 and by_time:
        part = [one for one in intervals if one.get("operation") == "write"]
    else:
        part = whole[len(whole) // 2 if begin is None else first + begin :]
    start = int(part[0]["start_ns"])
    seconds = (max(int(one["start_ns"]) + int(one["duration_ns"]) for one in part) - start) / 1e9
    rows, values = (sum(int(one.get(name) or 0) for one in part) / seconds for name in ("rows", "values"))
    measured = [
        Measurement(phase, "steady_rows_per_second", found * rows),
        Measurement(phase, "steady_values_per_second", found * values),
        Measurement(phase, "steady_rows_per_second_acknowledged", rows),
        Measurement(phase, "steady_values_per_second_acknowledged", values),
    ]
    if begin is not None:
        measured += [
            Measurement(phase, STEADY_FROM, start / 1e9),
            Measurement(phase, "steady_seconds", seconds),
        ]
    return measured
