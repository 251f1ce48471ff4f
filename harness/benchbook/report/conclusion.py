"""The sentences of a report: the question, its answer, every finding. Each number in them is computed."""

from __future__ import annotations

from typing import Any

from benchbook.analyse import comparison, quantity, same_work
from benchbook.analyse.cells import labelled
from benchbook.analyse.comparison import Estimate, Versus, estimates
from benchbook.analyse.run import Cell, Run
from benchbook.analyse.verdict import Verdict
from benchbook.declare.catalogue import root
from benchbook.declare.metric import describe
from benchbook.report.table import Words, code, escape_markdown, missing
from benchbook.report.tables import verdicts

# The answer of a run in one sentence: the first of its claims that two sides were measured for.


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
    stated = verdicts.WORDS.get(one.test, "published")
    published = f", {stated} {quantity.number(one.published)}" if one.published is not None else ""
    where = "" if len(one.cells) == 1 else f", over {len(one.cells)} cells{_spread(one)}"
    metric = describe(one.metric).title
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
    return "" if "system" in sides.factors else f"{run.title(sides.cells[0].levels['system'])}: "


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
        run.title(level) if name == "system" else f"{name.replace('_', ' ')} {level}"
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


# Whether the systems of a run may be compared at all: only where they gave the same answers.
#
# A system that answers otherwise than most is not taken out: its label says so in every chart (``cell.cells``). Where
# nobody can say which system is right, as with two that differ, nothing is compared.


def refused(run: Run, title: str) -> Words | None:
    """Return the sentence that stands in place of a comparison, or None where the comparison may be shown."""
    if not same_work.faults(run) or (same_work.of_run(run).flagged and not same_work.of_run(run).undecided):
        return None
    return missing(
        title, "the systems did not give the same answers, and speeds at different work are not compared"
    )


# The sentences of a report: the question, its answer, every finding. Each number in them is computed.
#
# What may be said is decided by ``benchbook.analyse.verdict``: nothing is called faster without an interval
# that excludes 1. Embedded systems and servers are answered for apart, because an embedded system shares the
# client's process and its numbers hold no transport.


def question(run: Run) -> Words:
    """Return the question that the experiment asks, as it was declared."""
    return Words(
        f"**{escape_markdown(run.info['question'] or run.info['title'] or run.info['experiment'])}**"
    )


def which(run: Run) -> Words:
    """Return in one line which run this is: identity, profile, trials, when."""
    info, trials = run.info, run.frame("trials")
    counted = f"{run.ok.height} of {info['planned_trials'] or trials.height} trials count"
    blocks = trials["block"].n_unique()
    when = f", {info['started_at']:%Y-%m-%d %H:%M} UTC" if info["started_at"] else ""
    return Words(
        f"Run {code(run.run_id)}, profile {code(info['profile'])}, {counted}, {blocks} blocks{when}."
    )


def answer_sentence(run: Run) -> Words:
    """Return the answer in one sentence for each kind of system: embedded, and servers."""
    faults = same_work.faults(run)
    if faults:
        return Words(
            f"No answer: {escape_markdown('; '.join(faults))}. Speeds at different work are not compared."
        )
    measured = [cell for cell in labelled(run) if cell.ok]
    if not measured:
        return Words("No answer: no trial of this run counts. The gaps below say why.")
    kinds = [
        ("", [cell for cell in measured if run.embedded(cell.system)]),
        ("", [cell for cell in measured if not run.embedded(cell.system)]),
    ]
    sentences = [_sentence(run, cells) for _, cells in kinds if cells]
    return Words(" ".join(escape_markdown(sentence) for sentence in sentences))


def _sentence(run: Run, cells: list[Cell]) -> str:
    """Say which of these cells is faster at loading and at queries, or that it cannot be said."""
    if len(cells) == 1:
        return _alone(run, cells[0])
    parts = [_load(run, phase, cells) for phase in run.phases("load")]
    if run.phases("query"):
        parts.append(_queries(run, cells))
    return f"On this machine, {'; '.join(part for part in parts if part)}."


def _alone(run: Run, cell: Cell) -> str:
    """State one cell's own numbers: it has no equal to be compared with."""
    kind, others = (
        ("embedded system", "servers") if run.embedded(cell.system) else ("server", "embedded systems")
    )
    loads = [
        found.text() for phase in run.phases("load") for found in _of(run, phase, "rows_per_second", [cell])
    ]
    medians = [
        f"{found.text()} ({phase})"
        for phase in run.phases("query")
        for found in _of(run, phase, "latency_p50", [cell])
        if found.points
    ]
    parts = [f"loaded {' and '.join(loads)}"] if loads else []
    parts += [f"answered in medians of {', '.join(medians)}"] if medians else []
    only = run.ok["cell"].n_unique() == 1
    who = f"{cell.label}, the only system measured," if only else f"{cell.label}, the only {kind} here,"
    rank = "" if only else f"; {others} are not ranked with it"
    return f"{who} {' and '.join(parts) or 'measured nothing that is compared'}{rank}."


def _of(run: Run, phase: str, metric: str, cells: list[Cell]) -> list[Estimate]:
    names = {cell.name for cell in cells}
    return [estimate for estimate in estimates(run, phase, metric) if estimate.cell.name in names]


def ranked(run: Run, phase: str, metric: str, cells: list[Cell]) -> list[Estimate]:
    """Return the measured cells of ``cells``, the best first."""
    found = [estimate for estimate in _of(run, phase, metric, cells) if estimate.value is not None]
    return sorted(
        found, key=lambda one: one.value or 0.0, reverse=bool(found) and found[0].direction == "higher"
    )


def leads(run: Run, phase: str, metric: str, cells: list[Cell]) -> list[Versus]:
    """Return the best cell's comparison with each of the others, the nearest first."""
    order = ranked(run, phase, metric, cells)
    pairs = [comparison.versus(run, order[0], other) for other in order[1:]]
    return [pair for pair in pairs if pair is not None]


def _load(run: Run, phase: str, cells: list[Cell]) -> str:
    pairs = leads(run, phase, "rows_per_second", cells)
    if not pairs:
        return f"no two systems were measured in {phase}"
    verdicts = comparison.verdicts(pairs)
    if verdicts[0].winner is None:
        return f"at loading, {verdicts[0].sentence}"
    rates = f"{pairs[0].above.text()} against {', '.join(pair.below.text() for pair in pairs)}"
    return f"at loading, {'; '.join(one.sentence for one in verdicts)}: {rates}"


def _queries(run: Run, cells: list[Cell]) -> str:
    """Count the query types in which one system has a shorter median latency than every other."""
    won: dict[str, list[float]] = {}
    phases = run.phases("query")
    by_phase = [leads(run, phase, "latency_p50", cells) for phase in phases]
    said = iter(comparison.verdicts([pair for pairs in by_phase for pair in pairs]))
    for pairs in by_phase:
        verdicts = [next(said) for _ in pairs]
        if pairs and all(one.winner == pairs[0].above.cell.label for one in verdicts):
            won.setdefault(pairs[0].above.cell.label, []).append(1 / pairs[0].value)
    undecided = len(phases) - sum(len(found) for found in won.values())
    parts = []
    for label, factors in won.items():
        low, high = quantity.number(min(factors)), quantity.number(max(factors))
        by = f"a factor of {low}" if low == high else f"factors from {low} to {high}"
        parts.append(
            f"{label} has the shortest median latency in {len(factors)} of {len(phases)} query types, by {by}"
        )
    if undecided:
        parts.append(
            f"in {undecided} of {len(phases)} query types no system can be called faster than every other"
        )
    return ", and ".join(parts)


def findings(run: Run) -> Words:
    """Return one sentence for each comparison with the baseline, as a list."""
    if faults := same_work.faults(run):
        return missing("The list of findings", "; ".join(faults))
    base = comparison.baseline(run)
    pairs = [
        pair
        for phase, metric in comparison.metrics(run)
        for pair in (comparison.against(run, phase, metric, base) if base else [])
    ]
    if not pairs:
        return missing("The list of findings", "no two systems were measured in the same blocks")
    ranked_pairs = [pair for pair in pairs if not comparison.mixed(run, pair)]
    said = iter(comparison.verdicts(ranked_pairs))
    lines = [_finding(pair, None if comparison.mixed(run, pair) else next(said)) for pair in pairs]
    if len(ranked_pairs) < len(pairs):
        lines.append(
            "Not ranked above: an embedded system against a server, whose numbers hold the transport "
            "between two processes as well."
        )
    return Words("\n".join(f"- {escape_markdown(line)}" for line in lines))


def _finding(pair: Versus, said: Verdict | None) -> str:
    what = pair.above.phase.capitalize() if pair.above.phase != "trial" else describe(pair.above.metric).title
    numbers = f"{pair.above.cell.label} {pair.above.text()}, {pair.below.cell.label} {pair.below.text()}"
    if said is None:
        return f"{what}: {numbers}, a ratio of {quantity.number(pair.value)}; not ranked."
    return f"{what}: {said.sentence}; {numbers}."


def limits(run: Run) -> Words:
    """Return the limits of the run as a list."""
    from benchbook.analyse.limits import limits as limits_of

    return Words("\n".join(f"- {escape_markdown(words)}" for words in limits_of(run)))
