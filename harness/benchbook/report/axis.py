"""Value axes: linear from zero, or logarithmic where a linear one would hide the small values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

LOG_RATIO = 20.0
"""Beyond this ratio of largest to smallest a linear axis hides the small ones."""
ROOM = 0.06
"""Share of the axis left free at either end of a logarithmic one."""

PLAIN = ".6~g"
SHORT = "format(datum.value, '.3~s')"
"""Large counts as 400k; ``format`` alone would write 0k for zero."""


def value(values: Sequence[float], title: str) -> tuple[alt.Scale, alt.Axis]:
    """Return scale and axis for ``values``: logarithmic where the largest is more than 20 times the smallest."""
    positive = [one for one in values if one > 0]
    if positive and len(positive) == len(values) and max(positive) / min(positive) > LOG_RATIO:
        return logarithmic(values, title)
    return alt.Scale(zero=True, nice=True), _axis(title, max(values, default=0.0))


def logarithmic(values: Sequence[float], title: str) -> tuple[alt.Scale, alt.Axis]:
    """Return a logarithmic scale just as wide as positive ``values`` need, with round ticks."""
    low, high = min(values), max(values)
    room = max((high / low) ** ROOM, 1.02)
    low, high = low / room, high * room
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    return scale, _axis(title, high, ticks(low, high))


def ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two positive ones, as many as a small chart can label.

    >>> ticks(0.9, 110), ticks(0.96, 1.05)
    ([1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0], [0.96, 0.98, 1.0, 1.02, 1.04])
    """
    decades = math.log10(high / low)
    if decades < math.log10(3):
        step = 10 ** math.floor(math.log10(high - low))
        step = next(size for size in (step / 5, step / 2, step, step * 2) if (high - low) / size <= 5.5)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        return [float(f"{count * step:.10g}") for count in range(first, last + 1)]
    factors = (1, 1.5, 2, 3, 5, 7) if decades < 1 else (1, 2, 5) if decades <= 2.6 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [float(f"{factor * 10.0**power:.10g}") for power in powers for factor in factors]
    return [one for one in found if low <= one <= high]


def _axis(title: str, largest: float, values: list[float] | None = None) -> alt.Axis:
    options: dict[str, Any] = {"values": values, "tickCount": len(values)} if values else {}
    if largest >= 10_000:
        return alt.Axis(title=title, labelExpr=SHORT, **options)
    return alt.Axis(title=title, format=PLAIN, **options)
