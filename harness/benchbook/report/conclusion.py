"""Sentences of a report: the question, its answer and the findings, with computed numbers.

``benchbook.analyse.verdict`` decides what they claim. Embedded systems and servers have separate answers, because an
embedded system shares the client's process and its numbers include no transport.
"""

from __future__ import annotations

from typing import Any

from benchbook.analyse import comparison, quantity, same_work
from benchbook.analyse.cells import labelled
from benchbook.analyse.comparison import Estimate, Versus, estimates
from benchbook.analyse.run import Cell, Run
from benchbook.analyse.verdict import Verdict
from benchbook.declare.metric import describe
from benchbook.report.table import Markdown, code, escape_markdown, missing
from benchbook.report.tables import verdicts


def claim_sentence(run: Run, question: str | None = None) -> Markdown:
    """Return a sentence on a claim with a measured ratio: both sides, ratio, interval and verdict.

    ``question`` is the id of the claim that answers the experiment's question. Without it, or if the run did not
    measure both its sides, the sentence is on the first claim whose sides were measured.
    """
    from benchbook.analyse import claims

    found = sorted(claims.of_run(run), key=lambda one: one.id != question)
    with_sides = ((one, _pair(one)) for one in found if one.measured is not None and one.cells)
    one, pair = next(((one, pair) for one, pair in with_sides if pair), (None, None))
    if one is None or pair is None:
        return missing("The answer", "the run did not measure both sides of any claim")
    over, of = pair
    measured = f"**{quantity.number(one.measured or 0.0)}**"
    if one.low is not None and one.high is not None:
        confidence = f"{100 * (1 - one.level):.3g} %"
        measured += f" ({confidence} CI {quantity.number(one.low)} to {quantity.number(one.high)})"
    stated = verdicts.WORDS.get(one.test, "published")
    published = f", {stated} {quantity.number(one.published)}" if one.published is not None else ""
    where = "" if len(one.cells) == 1 else f", over {len(one.cells)} setups{_spread(one)}"
    metric = describe(one.metric).title
    metric = f"{metric[0].lower()}{metric[1:]} ({one.phase})"
    sides = f"{_system(run, one)}{_side(run, of)} over {_side(run, over)}{_arm(one)}"
    return Markdown(f"{escape_markdown(f'{sides}, {metric}')}: {measured}{where}{published}. {_meaning(one)}")


def _pair(one: Any) -> tuple[dict[str, str], dict[str, str]] | None:
    """Return the levels in which the two sides differ, ``over`` first; None for a trend."""
    if one.test in ("rises", "falls"):
        return None
    sides = one.cells[0].sides
    over, of = ({name: cell.levels[name] for name in sides.factors} for cell in sides.cells)
    return over, of


def _system(run: Run, one: Any) -> str:
    """Return the title of the system of both sides; empty if the sides are different systems."""
    sides = one.cells[0].sides
    return "" if "system" in sides.factors else f"{run.title(sides.cells[0].levels['system'])}: "


def _spread(one: Any) -> str:
    """Return the range of the cells' ratios, because the mean hides differences between cells."""
    values = [cell.measured for cell in one.cells if cell.measured is not None]
    return f" of {quantity.number(min(values))} to {quantity.number(max(values))}" if values else ""


def _arm(one: Any) -> str:
    """Return the arm that both sides have in every cell; another arm may have another result."""
    arms = {cell.levels.get("arm") for judged in one.cells for cell in judged.sides.cells}
    named = len(arms) == 1 and None not in arms and "arm" not in one.cells[0].sides.factors
    return f", both {arms.pop()}" if named else ""


def _side(run: Run, levels: dict[str, str]) -> str:
    """Return the text of a side: the title of its system, and its other levels with their factors."""
    parts = [f"{name.replace('_', ' ')} {level}" for name, level in levels.items() if name != "system"]
    if "system" not in levels:
        return ", ".join(parts)
    return f"{run.title(levels['system'])} ({', '.join(parts)})" if parts else run.title(levels["system"])


def _meaning(one: Any) -> str:
    """Return what the interval shows, or why failed operations rule out a verdict."""
    failed = sum(cell.failed for cell in one.cells)
    if failed:
        operations = "operation" if failed == 1 else "operations"
        return f"{failed:,} {operations} failed, so neither side is called better."
    if one.low is None or one.high is None:
        return "There are too few trials for an interval."
    if one.low <= 1 <= one.high:
        return "The interval includes 1, so it shows no difference."
    way = "higher" if one.low > 1 else "lower"
    if len(one.cells) > 1:
        return f"The mean is {way}; the verdict, which considers every setup, is: {one.verdict}."
    return f"The whole interval is {way}; the verdict is: {one.verdict}."


def refused(run: Run, title: str) -> Markdown | None:
    """Return the sentence that replaces a comparison, or None if systems are comparable.

    Systems without a majority for one answer are not compared. If there is a majority, the comparison includes the
    systems that differ, and their labels have a flag (``analyse.cells``).
    """
    if not same_work.faults(run) or (same_work.of_run(run).flagged and not same_work.of_run(run).undecided):
        return None
    return missing(title, "the systems did not give the same answers, so their speeds are not comparable")


def question(run: Run) -> Markdown:
    """Return the declared question of the experiment."""
    return Markdown(
        f"**{escape_markdown(run.info['question'] or run.info['title'] or run.info['experiment'])}**"
    )


def run_line(run: Run) -> Markdown:
    """Return a line with the run's id, profile, number of trials and start."""
    info, trials = run.info, run.frame("trials")
    counted = f"{run.ok.height} of {info['planned_trials'] or trials.height} trials valid"
    blocks = trials["block"].n_unique()
    when = f", {info['started_at']:%Y-%m-%d %H:%M} UTC" if info["started_at"] else ""
    return Markdown(
        f"Run {code(run.run_id)}, profile {code(info['profile'])}, {counted}, {blocks} blocks{when}."
    )


def answer_sentence(run: Run) -> Markdown:
    """Return the answer in one sentence for each kind of system: embedded, and servers."""
    faults = same_work.faults(run)
    if faults:
        return Markdown(
            f"No answer: {escape_markdown('; '.join(faults))}. Speeds are comparable only for the same work."
        )
    measured = [cell for cell in labelled(run) if cell.ok]
    if not measured:
        return Markdown("No answer: this run has no valid trial. The list of gaps gives the reasons.")
    kinds = [
        ("", [cell for cell in measured if run.embedded(cell.system)]),
        ("", [cell for cell in measured if not run.embedded(cell.system)]),
    ]
    sentences = [_sentence(run, cells) for _, cells in kinds if cells]
    return Markdown(" ".join(escape_markdown(sentence) for sentence in sentences))


def _sentence(run: Run, cells: list[Cell]) -> str:
    """Return which of these cells is faster at loading and at queries, or that there is no verdict."""
    if len(cells) == 1:
        return _alone(run, cells[0])
    parts = [_load(run, phase, cells) for phase in run.phases("load")]
    if run.phases("query"):
        parts.append(_queries(run, cells))
    return f"On this machine, {'; '.join(part for part in parts if part)}."


def _alone(run: Run, cell: Cell) -> str:
    """Return the numbers of a cell that has nothing to be compared with."""
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
    parts += [f"had median latencies of {', '.join(medians)}"] if medians else []
    only = run.ok["cell"].n_unique() == 1
    who = f"{cell.label}, the only system measured," if only else f"{cell.label}, the only {kind} here,"
    rank = "" if only else f"; it is not ranked against {others}"
    return f"{who} {' and '.join(parts) or 'has no result to compare'}{rank}."


def _of(run: Run, phase: str, metric: str, cells: list[Cell]) -> list[Estimate]:
    names = {cell.name for cell in cells}
    return [estimate for estimate in estimates(run, phase, metric) if estimate.cell.name in names]


def ranked(run: Run, phase: str, metric: str, cells: list[Cell]) -> list[Estimate]:
    """Return the estimates of measured cells, the best first."""
    found = [estimate for estimate in _of(run, phase, metric, cells) if estimate.value is not None]
    return sorted(
        found, key=lambda one: one.value or 0.0, reverse=bool(found) and found[0].direction == "higher"
    )


def leads(run: Run, phase: str, metric: str, cells: list[Cell]) -> list[Versus]:
    """Return the comparisons of the best cell with each of the others, the closest first."""
    order = ranked(run, phase, metric, cells)
    pairs = [comparison.versus(run, order[0], other) for other in order[1:]]
    return [pair for pair in pairs if pair is not None]


def _load(run: Run, phase: str, cells: list[Cell]) -> str:
    pairs = leads(run, phase, "rows_per_second", cells)
    if not pairs:
        return f"fewer than two systems were measured in {phase}"
    verdicts = comparison.verdicts(pairs)
    if verdicts[0].winner is None:
        return f"at loading, {verdicts[0].sentence}"
    rates = f"{pairs[0].above.text()} compared with {', '.join(pair.below.text() for pair in pairs)}"
    return f"at loading, {'; '.join(one.sentence for one in verdicts)}: {rates}"


def _queries(run: Run, cells: list[Cell]) -> str:
    """Return in how many query types a system has a shorter median latency than all others."""
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
        parts.append(f"in {undecided} of {len(phases)} query types, no system is faster than all others")
    return ", and ".join(parts)


def findings(run: Run) -> Markdown:
    """Return a list with a sentence for each comparison with the baseline."""
    if faults := same_work.faults(run):
        return missing("The list of findings", "; ".join(faults))
    base = comparison.baseline(run)
    pairs = [
        pair
        for phase, metric in comparison.metrics(run)
        for pair in (comparison.against(run, phase, metric, base) if base else [])
    ]
    if not pairs:
        return missing("The list of findings", "fewer than two systems were measured in the same blocks")
    ranked_pairs = [pair for pair in pairs if not comparison.mixed(run, pair)]
    said = iter(comparison.verdicts(ranked_pairs))
    lines = [_finding(pair, None if comparison.mixed(run, pair) else next(said)) for pair in pairs]
    if len(ranked_pairs) < len(pairs):
        lines.append(
            "Embedded systems and servers are not ranked together, because servers' numbers include the transport "
            "between two processes."
        )
    return Markdown("\n".join(f"- {escape_markdown(line)}" for line in lines))


def _finding(pair: Versus, said: Verdict | None) -> str:
    what = pair.above.phase.capitalize() if pair.above.phase != "trial" else describe(pair.above.metric).title
    numbers = f"{pair.above.cell.label} {pair.above.text()}, {pair.below.cell.label} {pair.below.text()}"
    if said is None:
        return f"{what}: {numbers}, ratio {quantity.number(pair.value)}; not ranked."
    return f"{what}: {said.sentence}; {numbers}."


def limits(run: Run) -> Markdown:
    """Return the limits of the run as a list."""
    from benchbook.analyse.limits import limits as limits_of

    return Markdown("\n".join(f"- {escape_markdown(sentence)}" for sentence in limits_of(run)))
