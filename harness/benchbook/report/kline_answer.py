"""The answer to the question of packed days and tables: from what was published to the same work, in two sentences."""

from __future__ import annotations

from benchbook.analyse.run import Run
from benchbook.report import quantity
from benchbook.report.steps import ARMS, STEPS, Step, steps
from benchbook.report.table import Words, escape_markdown, missing

FIRST, LAST = next(iter(STEPS.values())), list(STEPS.values())[-1]


def words(run: Run) -> Words:
    """Say for each kind of read how the ratio shrinks or stands, at the largest volume that has both steps."""
    said = [sentence for phase in ("long", "short") if (sentence := _sentence(run, phase))]
    if not said:
        return missing("The answer", "no volume of this run has both the first and the last step")
    return Words(" ".join(escape_markdown(one) for one in said))


def _sentence(run: Run, phase: str) -> str:
    found = steps(run, phase, "reads_per_second")
    both = [{one.stocks for one in found if one.label == label} for label in (FIRST, LAST)]
    largest = max(set.intersection(*both), default=0)
    held = [one for one in found if one.stocks == largest]
    # As published it was behind a service in Python; the same work is told of the store itself.
    order = list(ARMS.values())
    first = max((one for one in held if one.label == FIRST), key=lambda one: _place(order, one), default=None)
    last = min((one for one in held if one.label == LAST), key=lambda one: _place(order, one), default=None)
    if first is None or last is None:
        return ""
    published = f" (the publication has {quantity.number(first.published)})" if first.published else ""
    return (
        f"{phase.capitalize()} reads of {largest} stocks: {first.asked}, has {first.text()} times the reads a "
        f"second of {first.over} as published{published}; where both do the same work, {last.asked} has "
        f"{last.text()} times those of {last.over}."
    )


def _place(order: list[str], one: Step) -> int:
    return next(place for place, words in enumerate(order) if one.asked.endswith(words))
