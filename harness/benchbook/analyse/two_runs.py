"""Compare two runs: first what differs besides the results, then B over A for each cell and metric."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from benchbook.analyse import interval, limits, noise, ratio, same_work
from benchbook.analyse.alike import Kind, kind_of
from benchbook.analyse.difference import MIXING, Difference, differences
from benchbook.analyse.model import ALPHA, FEWEST, Noise
from benchbook.analyse.paired import paired
from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.analyse.values import AA, Cell, Pair
from benchbook.analyse.wording import listing
from benchbook.declare.metric import is_main
from benchbook.errors import RequestError, command
from benchbook.plan.factors import SOURCE

# What a system costs in a container: the same cells from two sources, in one run, paired by block.


def rows(run: Run) -> list[dict[str, Any]]:
    """Return one row for each cell, main metric and pair of sources: the ratio, and its interval or why it has none."""
    alike: dict[Any, dict[str, Cell]] = {}
    for cell in run.cells:
        if SOURCE in cell.levels:
            rest = tuple((name, level) for name, level in cell.levels.items() if name != SOURCE)
            alike.setdefault(rest, {})[cell.levels[SOURCE]] = cell
    found = []
    for rest, cells in alike.items():
        base, *others = sorted(cells, key=lambda name: (name in ("docker", "given", "image"), name))
        for other in others:
            for phase, metric in run.pairs():
                if not is_main(metric):
                    continue
                made = paired(run, cells[other], cells[base], (phase, metric))
                if made.value is None:
                    continue
                found.append(
                    {
                        "cell": ",".join(f"{name}={level}" for name, level in rest),
                        "phase": phase,
                        "metric": metric,
                        "sources": f"{other} over {base}",
                        "ratio": f"{made.value:.3g}",
                        "95 % CI": f"{made.low:.3g} to {made.high:.3g}"
                        if made.low and made.high
                        else made.reason,
                    }
                )
    return found


# Two runs compared: first what differs beside the results, then B over A for each cell and metric.
#
# The runs share no blocks, so the interval is Welch's, and whatever changed between them is part of the ratio. Equal
# runs differ by more than their trials explain, so each interval includes what published ones differ by.

Said = Literal["faster", "slower", "more", "less", "no difference can be claimed", "not judged"]

BETWEEN_RUNS: dict[Kind, float] = {"speed": 0.14, "tail": 0.18, "size": 0.01}
"""Class of metric → standard deviation of the log ratio of one setup in two runs on a processor, beside what their
trials explain. It was learned from published runs that did the same work, whose experiments count alike: at this size,
95 % of the intervals contain 1. Others have that of speed: too few published runs show theirs."""
RUN_PAIRS = 10
"""Degrees of freedom of ``BETWEEN_RUNS``: the pairs of runs that it was learned from."""
_SPEED = ("_per_second", "_seconds")
_USE = ("cpu_seconds",)


@dataclass(frozen=True)
class Change:
    """One metric of one cell, B over A."""

    cell: str
    """The cell of A, and that of B where they are called differently."""
    phase: str
    metric: str
    unit: str
    a: float | None
    """Typical value of A's trials, in ``unit``, as reports show it."""
    b: float | None
    ratio: float | None
    low: float | None
    high: float | None
    a_trials: int
    b_trials: int
    effect: float | None
    """Hedges' g of the logarithms."""
    noise: float | None
    """Noise between equal setups as a factor, the larger one of the two machines; None where neither is known."""
    outliers: int
    """Trials marked as outliers; they are kept."""
    said: Said
    reasons: tuple[Reason, ...]
    """Why."""


@dataclass(frozen=True)
class TwoRuns:
    """The result of comparing two runs."""

    a: str
    b: str
    differences: tuple[Difference, ...]
    changes: tuple[Change, ...]
    mixed: tuple[str, ...]
    """Groups of different work that stand together because that was asked for."""
    notes: tuple[str, ...]
    """Notes for the reader of the numbers."""


def compare(results: Path, a: str, b: str, *, across: bool = False, every: bool = False) -> TwoRuns:
    """Compare run ``b`` with run ``a``.

    Compare the main metrics, or with ``every`` all that have a direction. ``across`` allows different data,
    query sets or configurations. Raises RequestError for those without it, for a run with itself, and for runs
    that have no cell in common.
    """
    if a == b:
        raise RequestError(
            f"{a} cannot be compared with itself.",
            f"Name two different runs. `{command('aa EXPERIMENT')}` compares each system with itself.",
        )
    one = Run(results, a)
    with one.connected() as connection:
        two = Run(results, b, connection)
        one.require()
        two.require()
        return _compared(one, two, across, every)


def _compared(one: Run, two: Run, across: bool, every: bool) -> TwoRuns:
    a, b = one.run_id, two.run_id
    theirs = set(two.pairs())
    pairs = [pair for pair in one.pairs() if pair in theirs and (every or is_main(pair[1]))]
    answers = [same_work.of_run(run) for run in (one, two)]
    matched = match(one, two)
    if not matched:
        raise RequestError(
            f"{a} and {b} have no cell in common: {_apart(one, two)}.",
            f"The first has {_named(one)}; the second has {_named(two)}. To compare levels, run them in one run: --set"
            " FACTOR=A,B.",
        )
    found = differences(one, two, matched)
    mixed = [difference for difference in found if difference.group in MIXING]
    if mixed and not across:
        said = "; ".join(difference.sentence for difference in mixed[:4])
        more = f"; and {len(mixed) - 4} more" if len(mixed) > 4 else ""
        raise RequestError(
            f"{a} and {b} are not compared, because they did different work: {said}{more}.",
            "Add --across to compare them anyway; the output then lists these differences.",
        )
    faults = _answers(answers[0], answers[1], matched)
    made = [_change(one, two, cells, pair) for cells in matched for pair in pairs]
    changes = _judged([change for change in made if change is not None], faults)
    return TwoRuns(
        a,
        b,
        tuple(found),
        tuple(changes),
        _groups(mixed),
        tuple(_notes(one, two, matched, found, faults, changes)),
    )


def _apart(one: Run, two: Run) -> str:
    """Return the factors that one run lacks or that have no level in both, in words."""
    levels: list[dict[str, dict[str, None]]] = [{}, {}]
    for found, run in zip(levels, (one, two), strict=True):
        for cell in run.cells:
            for factor, level in cell.levels.items():
                if cell.ok and factor not in ("system", AA):
                    found.setdefault(factor, {})[level] = None
    first, second = levels
    said = [
        f"only the {place} has the factor {factor} ({listing(list(held[factor]))})"
        for place, held, other in (("first", first, second), ("second", second, first))
        for factor in held if factor not in other
    ]  # fmt: skip
    said += [
        f"{factor} is {listing(list(first[factor]))} in the first and {listing(list(second[factor]))} in the second"
        for factor in first if factor in second and not first[factor].keys() & second[factor].keys()
    ]  # fmt: skip
    return "; ".join(said) or "no combination of levels was run in both"


def _named(run: Run) -> str:
    """Return the cells of a run in words: the first three."""
    names = [cell.name for cell in run.cells if cell.ok]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{' · '.join(names[:3])}{more}" if names else "no cell with valid trials"


def match(a: Run, b: Run) -> list[tuple[Cell, Cell]]:
    """Return the cells to compare: those with equal levels, then those that differ in the system alone.

    The second is how two versions of a system are compared; it needs one such cell on each side.
    """
    ours = {cell.size: cell for cell in reversed(a.cells) if cell.ok and cell.levels.get(AA, "A") == "A"}
    theirs = {cell.size: cell for cell in reversed(b.cells) if cell.ok and cell.levels.get(AA, "A") == "A"}
    found = [(cell, theirs[size]) for size, cell in ours.items() if size in theirs]
    left = [
        _by_rest([cell for size, cell in side.items() if size not in other])
        for side, other in ((ours, theirs), (theirs, ours))
    ]
    found += [
        (cells[0], left[1][rest][0])
        for rest, cells in left[0].items()
        if len(cells) == 1 and len(left[1].get(rest, [])) == 1
    ]
    order = {cell.name: place for place, cell in enumerate(a.cells)}
    return sorted(found, key=lambda each: order[each[0].name])


def _by_rest(cells: list[Cell]) -> dict[Any, list[Cell]]:
    found: dict[Any, list[Cell]] = {}
    for cell in cells:
        found.setdefault(tuple(level for level in cell.size if level[0] != "system"), []).append(cell)
    return found


def _change(a: Run, b: Run, cells: tuple[Cell, Cell], pair: Pair) -> tuple[Change, float, bool] | None:
    """Return the numbers of one metric in one cell, the p-value of no difference, and whether B is better."""
    one, two = a.values(cells[0], pair), b.values(cells[1], pair)
    of_a, of_b = list(one.by_block.values()), list(two.by_block.values())
    if not of_a or not of_b or one.direction == "none":
        return None
    known = [noise.of(run, pair, cell.system) for run, cell in zip((a, b), cells, strict=True)]
    noisy = max((one for one in known if one), key=lambda one: one.variance, default=None)
    made = ratio.unpaired(of_a, of_b, between_runs(pair[1], noisy))
    failed = a.failed(cells[0], pair[0]) + b.failed(cells[1], pair[0])
    marks = sum(interval.mad(of_a)) + sum(interval.mad(of_b))
    name = cells[0].name if cells[0].name == cells[1].name else f"{cells[0].name} → {cells[1].name}"
    typical = [interval.mean_log(held).value for held in (of_a, of_b)]
    none = () if made.ratio.reason is None else (made.ratio.reason,)
    short = limits.short_phase(a, cells[:1], pair) or limits.short_phase(b, cells[1:], pair)
    unfit = because("operations-failed", number=failed) if failed else short
    why = (unfit,) if unfit else none
    change = Change(
        name, *pair, one.unit, typical[0], typical[1], made.ratio.value, made.ratio.low, made.ratio.high,
        len(of_a), len(of_b), made.effect, noisy.factor if noisy else None, marks, "not judged", why,
    )  # fmt: skip
    higher = (made.ratio.value or 1.0) > 1
    return change, made.ratio.differs, higher == (one.direction == "higher")


def between_runs(metric: str, equal: Noise | None) -> Noise | None:
    """Return the noise of a ratio between two runs: what equal runs differ by, and no less than equal setups do.

    A metric without a class, such as a share of acknowledged rows, has only that of equal setups.
    """
    kind = kind_of(metric)
    if kind is None:
        return equal
    scale = BETWEEN_RUNS.get(kind, BETWEEN_RUNS["speed"])
    runs = Noise(scale**2, RUN_PAIRS)
    return runs if equal is None or equal.variance < runs.variance else equal


def _judged(made: list[tuple[Change, float, bool]], faults: list[Reason]) -> list[Change]:
    """Say of every change what may be claimed, as one family of tests with Holm's correction."""
    judged = [place for place, (change, _, _) in enumerate(made) if not change.reasons and not faults]
    adjusted = dict(zip(judged, interval.adjusted([made[place][1] for place in judged]), strict=True))
    found = []
    for place, (change, alone, better) in enumerate(made):
        if place not in adjusted:
            found.append(replace(change, reasons=tuple(faults) or change.reasons))
        elif adjusted[place] <= ALPHA:
            excludes = because("ci-excludes-1")
            found.append(replace(change, said=_word(change, better), reasons=(excludes,)))
        else:
            alone_only = because("ci-excludes-1-alone", among=len(judged))
            why = alone_only if alone <= ALPHA else because("ci-includes-1")
            found.append(replace(change, said="no difference can be claimed", reasons=(why,)))
    return found


def _word(change: Change, better: bool) -> Said:
    """Return faster or slower for speed, more or less for what is used or stored."""
    speed = (change.metric.endswith(_SPEED) and not change.metric.endswith(_USE)) or change.metric.startswith(
        "latency_"
    )
    if speed:
        return "faster" if better else "slower"
    return "more" if (change.ratio or 1) > 1 else "less"


def _answers(a: same_work.SameWork, b: same_work.SameWork, matched: list[tuple[Cell, Cell]]) -> list[Reason]:
    """Return why the two runs' answers do not show the same work; where the data differ nothing is held together."""
    from benchbook.analyse.answers import Answer
    from benchbook.analyse.answers import compare as compare_answers

    found: list[Reason] = []
    systems = [{cells[side].system for cells in matched} for side in (0, 1)]
    by_dataset = [{group.dataset: group.answers for group in held.groups} for held in (a, b)]
    for dataset in by_dataset[0].keys() & by_dataset[1].keys():
        sides: list[list[Answer]] = [
            [replace(one, system=label) for one in by_dataset[side][dataset] if one.system in systems[side]]
            for side, label in enumerate("AB")
        ]
        asked = {one.query_id for one in sides[0]} & {one.query_id for one in sides[1]}
        made = compare_answers([one for side in sides for one in side if one.query_id in asked], a.tolerance)
        if made.differing:
            found.append(because("runs-answer-differently", number=made.differing))
    return found


def _groups(mixed: list[Difference]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(difference.group for difference in mixed))


def _notes(
    a: Run,
    b: Run,
    matched: list[tuple[Cell, Cell]],
    found: list[Difference],
    faults: list[Reason],
    changes: list[Change],
) -> list[str]:
    compared = [{cells[side].name for cells in matched} for side in (0, 1)]
    notes = [
        "The trials of the two runs were not interleaved: everything that changed between them is part of each ratio.",
        "Equal runs of one machine differ too, and the intervals include by how much.",
    ]
    mixed = _groups([difference for difference in found if difference.group in MIXING])
    if mixed:
        notes.append(
            f"The two runs did different work, and --across compares them anyway: {', '.join(mixed)}."
        )
    if any(difference.group == "machine" for difference in found):
        notes.append("The machines or their settings differ: each ratio is of system and machine together.")
    left = [
        len({cell.name for cell in run.cells if cell.ok} - compared[side]) for side, run in enumerate((a, b))
    ]
    if any(left):
        notes.append(f"Setups that only one run has are left out: {left[0]} of A and {left[1]} of B.")
    if faults:
        notes.append("Nothing is judged, because the two runs answered some values differently.")
    if changes and all(change.noise is None for change in changes):
        notes.append("The noise floor of neither run's processor is known (`aa` measures it).")
    fewest = min((min(change.a_trials, change.b_trials) for change in changes), default=0)
    if changes and fewest < FEWEST:
        notes.append(f"Where a setup has fewer than {FEWEST} trials, there is no interval and no conclusion.")
    for label, run in (("A", a), ("B", b)):
        if run.info.get("finished_at") is None:
            notes.append(f"Run {label} is unfinished.")
    return notes
