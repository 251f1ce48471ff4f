"""The answer of a run in one sentence: the first of its claims that two sides were measured for."""

from __future__ import annotations

from typing import Any

from benchbook.declare.catalogue import root
from benchbook.report import bound, quantity
from benchbook.report import cell as cells_of
from benchbook.report.markup import escape_markdown
from benchbook.report.metric import metric as words_of
from benchbook.report.results import Run
from benchbook.report.words import Words, missing


def words(run: Run, question: str | None = None) -> Words:
    """Say what a claim with a measured ratio shows: both sides, ratio, interval, and what may be said.

    It is the claim ``question``, the id of the one that the experiment's question is about, if both its sides were
    measured; else the first that has them.
    """
    from benchbook.analyse import claims

    found = claims.judge_run(run.results, run.run_id, root() / "datasets" / "published")
    found = sorted(found, key=lambda one: one.id != question)
    with_sides = ((one, _pair(one)) for one in found if one.measured is not None and one.cells)
    one, pair = next(((one, pair) for one, pair in with_sides if pair), (None, None))
    if one is None or pair is None:
        return missing("The answer", "the run measured both sides of none of its claims")
    over, of = pair
    measured = f"**{quantity.number(one.measured or 0.0)}**"
    if one.low is not None and one.high is not None:
        measured += f" ({quantity.number(one.low)} to {quantity.number(one.high)})"
    stated = bound.WORDS.get(one.test, "published")
    published = f", {stated} {quantity.number(one.published)}" if one.published is not None else ""
    where = "" if len(one.cells) == 1 else f", over {len(one.cells)} cells{_spread(one)}"
    metric = words_of(one.metric).title
    metric = f"{metric[0].lower()}{metric[1:]} ({one.phase})"
    sides = f"{_system(run, one)}{_side(run, of)} over {_side(run, over)}{_arm(one)}"
    return Words(f"{escape_markdown(f'{sides}, {metric}')}: {measured}{where}{published}. {_said(one)}")


def _pair(one: Any) -> tuple[dict[str, str], dict[str, str]] | None:
    """Return the levels in which the two sides differ, ``over`` first; None for a trend."""
    if one.test in ("rises", "falls"):
        return None
    sides = one.cells[0].sides
    over, of = ({name: cell.levels[name] for name in sides.factors} for cell in sides.cells)
    return over, of


def _system(run: Run, one: Any) -> str:
    """Return the system that both sides are of, by title; nothing where the sides name theirs."""
    sides = one.cells[0].sides
    return "" if "system" in sides.factors else f"{cells_of.title(run, sides.cells[0].levels['system'])}: "


def _spread(one: Any) -> str:
    """Say between what the cells lie, for their mean hides where they disagree."""
    values = [cell.measured for cell in one.cells if cell.measured is not None]
    return f" of {quantity.number(min(values))} to {quantity.number(max(values))}" if values else ""


def _arm(one: Any) -> str:
    """Name the arm that both sides have in every cell, for another arm may answer otherwise."""
    arms = {cell.levels.get("arm") for judged in one.cells for cell in judged.sides.cells}
    named = len(arms) == 1 and None not in arms and "arm" not in one.cells[0].sides.factors
    return f", both {arms.pop()}" if named else ""


def _side(run: Run, levels: dict[str, str]) -> str:
    """Return a side in words: its system by title, its other levels with their factor."""
    parts = [
        cells_of.title(run, level) if name == "system" else f"{name.replace('_', ' ')} {level}"
        for name, level in levels.items()
    ]
    return ", ".join(parts)


def _said(one: Any) -> str:
    """Say what the interval allows, and why it may not be said where operations failed."""
    failed = sum(cell.failed for cell in one.cells)
    if failed:
        were = "operation failed" if failed == 1 else "operations failed"
        return f"{failed:,} {were} on the way, and with failures neither side is called better."
    if one.low is None or one.high is None:
        return "There are too few trials for an interval."
    if one.low <= 1 <= one.high:
        return "The interval holds 1: no difference is shown."
    way = "higher" if one.low > 1 else "lower"
    if len(one.cells) > 1:
        return f"That mean is {way}; the verdict, for which every cell is asked, is: {one.verdict}."
    return f"The whole interval says {way}; the verdict is: {one.verdict}."
