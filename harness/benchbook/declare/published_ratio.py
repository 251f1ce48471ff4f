"""The published ratio of one cell of a claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchbook.declare.level import ordered, same


@dataclass(frozen=True)
class PublishedRatio:
    """What was published for one cell."""

    levels: dict[str, str]
    """The cell: a level of each factor in ``across``; empty where the claim has one number for all."""
    ratio: float | None
    """None where the publication left one of the two values out."""
    of: float | None = None
    over: float | None = None
    """The two values, in ``unit``; None where only their ratio was published."""
    unit: str | None = None
    note: str = ""
    """What the publication says beside the numbers, or why there is none."""
    by_level: dict[str, float] = field(default_factory=dict)
    """Of a trend: level of the factor → published value, in ``unit``."""

    def between(self, first: str, last: str) -> PublishedRatio:
        """Return the ratio of a trend between two levels, those that a run has; without one where it has not both.

        A trend that was published as one number, without its levels, stays as it is.
        """
        if not self.by_level:
            return self
        over, of = (
            next((value for level, value in self.by_level.items() if same(level, wanted)), None)
            for wanted in (first, last)
        )
        if of is None or over is None:
            return replace(self, ratio=None, of=of, over=over)
        return replace(self, ratio=of / over, of=of, over=over)


def ends(
    along: str, values: Sequence[tuple[Mapping[str, str], float | None]], unit: str | None
) -> list[PublishedRatio]:
    """Return, for each cell, the value at the last level of ``along`` over that at the first.

    ``values`` holds the levels of every published number, that of ``along`` among them, and the number.
    """
    cells: dict[tuple[tuple[str, str], ...], dict[str, float]] = {}
    for levels, value in values:
        key = tuple(sorted((name, level) for name, level in levels.items() if name != along))
        by_level = cells.setdefault(key, {})
        if value is not None:
            by_level[levels[along]] = value
    found = []
    for key, by_level in cells.items():
        if len(by_level) < 2:
            note = f"published at fewer than 2 levels of {along}"
            found.append(PublishedRatio(dict(key), None, unit=unit, note=note))
            continue
        first, *_, last = ordered(list(by_level))
        of, over = by_level[last], by_level[first]
        note = f"{along} from {first} to {last}"
        found.append(PublishedRatio(dict(key), of / over, of, over, unit, note, by_level))
    return found
