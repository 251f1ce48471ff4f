"""Titles that state the finding of a chart: which system leads, and at which levels of a factor."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from benchbook.analyse import comparison, limits, quantity
from benchbook.analyse.comparison import Estimate
from benchbook.analyse.run import Run
from benchbook.analyse.wording import label_words, listing
from benchbook.declare.metric import describe
from benchbook.measure.histogram import FEWEST_BEYOND
from benchbook.report.reasons import text


def title(
    run: Run, what: str, groups: Mapping[str, Sequence[Estimate]], along: str = "", levels: str = "{}"
) -> str:
    """Return ``what`` with the system that leads in each group, such as "Rows per second: DuckDB leads at every size".

    A group is a level of the factor ``along``, in order, and its estimates are compared with the best one; all
    comparisons are one family. ``levels`` puts levels into words. The name of a single group is left out.
    """
    best = [(level, *_best(run, held)) for level, held in groups.items()]
    best = [one for one in best if one[2]]
    if not best:
        return what
    said = iter(comparison.verdicts([pair for _, _, pairs in best for pair in pairs]))
    won: dict[str, list[str]] = {}
    near: list[comparison.Versus] = []
    for level, first, pairs in best:
        near = [pair for pair in pairs if next(said).winner != first.cell.label]
        won.setdefault("" if near else first.cell.title, []).append(level)
    if len(best) == 1:
        _, first, pairs = best[0]
        if near:
            others = len(near) - 1
            more = f" and {others} other {'setup' if others == 1 else 'setups'}" if others else ""
            return (
                f"{what}: {_name(first, pairs)} is not clearly ahead of {_name(near[0].below, pairs)}{more}"
            )
        closest = min(pairs, key=lambda pair: max(pair.value, 1 / pair.value))
        by = _by(max(closest.value, 1 / closest.value))
        return f"{what}: {_name(first, pairs)} is ahead of {_name(closest.below, pairs)} by {by}"
    order = list(groups)
    among = sum(len(pairs) for _, _, pairs in best)
    # Claims rest on all runs, so they may decide what one run leaves open.
    corrected = f" (this run alone, Holm's correction for {among} comparisons)" if among > 1 else ""
    if set(won) == {""}:
        return f"{what}: no clear leader at any {along or 'level'}{corrected}"
    undecided = won.pop("", None)
    parts = [f"{name} leads {_listed(held, order, along, levels)}" for name, held in won.items()]
    if undecided:
        parts.append(f"no clear leader {_listed(undecided, order, along, levels)}{corrected}")
    return f"{what}: {'; '.join(parts)}"


def _by(factor: float) -> str:
    """Return how far the first is ahead; a factor that would be written as 1.00 is a share.

    >>> _by(2.5), _by(1.004)
    ('a factor of 2.50', '0.40 %')
    """
    text = quantity.number(factor)
    return f"a factor of {text}" if text != "1.00" else quantity.percent(factor - 1)


def _name(one: Estimate, pairs: Sequence[comparison.Versus]) -> str:
    """Return the title of a cell's system, with its levels if the system has other cells among the compared ones.

    If all are cells of one system, these are only the levels in which they differ.
    """
    cells = {held.cell.name: held.cell for pair in pairs for held in (pair.above, pair.below)}
    systems = [cell.system for cell in cells.values()]
    if systems.count(one.cell.system) == 1:
        return one.cell.title
    if len(set(systems)) > 1:
        return f"{one.cell.title} ({one.cell.setting})"
    shared = set.intersection(*(set(cell.varying) for cell in cells.values()))
    return ", ".join(label_words(*level) for level in one.cell.varying if level not in shared)


def _best(run: Run, held: Sequence[Estimate]) -> tuple[Estimate, list[comparison.Versus]]:
    """Return the best estimate and its comparisons with the others that may be ranked with it.

    There are none if a phase of any of them is too short: who leads all is then unknown.
    """
    known = [one for one in held if one.value]
    # A system that gave other answers than most is drawn, with its flag, but leads no title.
    known = [one for one in known if not one.cell.flagged] or known
    if not known:
        return held[0], []
    first = (max if known[0].direction == "higher" else min)(known, key=lambda one: one.value or 0.0)
    pairs = [comparison.versus(run, first, other) for other in known if other is not first]
    ranked = [pair for pair in pairs if pair is not None and not comparison.mixed(run, pair)]
    short = any(pair.unfit is not None and pair.unfit.code == "short-phase" for pair in ranked)
    return first, [] if short else ranked


NUMBER = re.compile(r"[\d.,]+( ?[kKMGT]?i?B)?")
"""A level that has an order: a number or a size."""


def _listed(levels: list[str], order: list[str], along: str, words: str) -> str:
    """Return levels in words: all of them, or numbers in a row as a span.

    >>> _listed(["1", "2", "5", "20"], ["1", "2", "5", "10", "20"], "number in flight", "{} in flight")
    'at 1 to 5 and 20 in flight'
    >>> _listed(["a", "b"], ["a", "b"], "size", "{}")
    'at every size'
    >>> _listed(["1", "2", "10"], ["1", "2", "5", "10"], "number in flight", "{} in flight")
    'at 1, 2 and 10 in flight'
    >>> _listed(["b", "c", "d"], ["a", "b", "c", "d"], "query type", "{}")
    'at b, c and d'
    """
    if len(levels) == len(order):
        return f"at every {along or 'level'}"
    ordered = all(NUMBER.fullmatch(level) for level in order)
    spans: list[list[str]] = []
    for level in levels:
        follows = ordered and spans and order.index(level) == order.index(spans[-1][-1]) + 1
        spans[-1].append(level) if follows else spans.append([level])
    named = [name for one in spans for name in ([f"{one[0]} to {one[-1]}"] if len(one) > 2 else one)]
    return f"at {words.format(listing(named))}"


RATIO = "Ratio, logarithmic axis; right of 1 is better; bars are 95 % CIs"
"""Start of the subtitle of a chart of ratios."""
BETTER = {"higher": "more is better", "lower": "less is better"}


def subtitle(found: Sequence[Estimate], scale: str, unit: str, *, published: bool = False) -> str:
    """Return what a chart draws: metric, unit, kind of axis, which values are better, and the number of trials."""
    first = found[0]
    counts = sorted({len(one.points) for one in found if one.points})
    trials = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}" if counts else "no"
    of = f" ({unit})" if unit else ""
    parts = [f"{describe(first.metric).title}{of}, {scale} axis"]
    parts += [BETTER[first.direction]] if first.direction in BETTER else []
    bars = "bars are 95 % CIs" if any(one.low is not None for one in found) else "too few for a CI"
    parts += [f"n = {trials} trial{'' if trials == '1' else 's'} of each setup, {bars}"]
    parts += ["hollow diamonds were published"] if published else []
    return "; ".join(parts)


def caveat(run: Run, found: Sequence[Estimate]) -> str:
    """Return the notes that concern the numbers of a chart: short phases, a busy client, transport."""
    phases = list(dict.fromkeys(one.phase for one in found))
    lasted = {phase: limits.brief(run, phase) for phase in phases}
    brief = [one for one in found if one.points and one.cell.name in lasted[one.phase]]
    notes = []
    if brief:
        shortest = quantity.text(min(lasted[one.phase][one.cell.name] for one in brief), "s")
        # The bars are dashed, and a point without an interval has none.
        start = "Dashed: phases" if any(one.low is not None for one in brief) else "Phases"
        notes.append(f"{start} shorter than 1 s (the shortest: {shortest}) are too short for a verdict.")
    if found[0].metric.startswith("latency_p") and any(one.cell.ok and not one.points for one in found):
        notes.append(f"A percentile is missing where fewer than {FEWEST_BEYOND} operations lie beyond it.")
    busy = [one for one in limits.busy_client(run) if one.facts["phase"] in phases]
    notes += [f"{text(one)}." for one in busy[:1]]
    kinds = {run.embedded(one.cell.system) for one in found if one.points}
    if len(kinds) > 1 and found[0].unit != "B":
        notes.append(
            "Servers are not ranked against embedded systems, whose times include no communication between processes."
        )
    return " ".join(notes)
