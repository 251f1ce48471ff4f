"""Sentences of a report: the headline with its tiles, the answer, the findings and the limits, with computed numbers.

``benchbook.analyse`` decides what they claim. Embedded systems and servers have separate answers, because an
embedded system shares the client's process and its numbers include no transport.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from benchbook.analyse import comparison, grade, quantity, rules, same_work
from benchbook.analyse.cells import labelled
from benchbook.analyse.claim_notes import corrected_after, reworded_after
from benchbook.analyse.claims import ends
from benchbook.analyse.comparison import Estimate, Versus, estimates
from benchbook.analyse.model import ALPHA, FEW
from benchbook.analyse.reason import Reason
from benchbook.analyse.run import Run
from benchbook.analyse.values import TRIAL, Cell, Pair
from benchbook.analyse.verdict import NO_VERDICT, Verdict
from benchbook.analyse.wording import listing
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.claim import PHASE, TRENDS
from benchbook.declare.metric import describe
from benchbook.report import claim, gate, reasons
from benchbook.report import limits as limits_of
from benchbook.report.table import Block, Markdown, code, escape_html, escape_markdown, missing
from benchbook.report.tables import setting

if TYPE_CHECKING:
    from benchbook.analyse.claims import Judgement

# The headline: the finding, what it means, three tiles, and how strong the evidence is.


def headline(run: Run, said: Markdown | None = None) -> Block:
    """Return the finding of a page: what was claimed, what the rerun found, what differs; then three tiles.

    It begins with the claims on the first conclusion of the publication. Without claims the answer compares the systems
    of the run, or is ``said``.
    """
    publication = Catalogue().publication(run.experiment)
    found = leading(run)
    lines: list[Line] = []
    if publication is not None and found:
        lines.append(_line("Claimed", f"{publication.claimed} ({publication.by}, {publication.when})"))
    lines += [Line(label, claim.finding(run, one), claim.finding_html(run, one)) for label, one in found]
    leads = [one for _, one in found]
    lead = next(iter(leads), None)
    if lead is not None:
        lines.append(_line("How sure", how_sure(run, leads)))
        compared = [cell for one in leads for held in one.cells for cell in held.sides.cells]
        lines.append(_line("Setting", f"{setting.brief(run, compared)}."))
    if publication is not None and publication.differs and found:
        lines.append(_line("What differs", publication.differs))
    if not lines:
        answer = said or answer_sentence(run)
        lines += [
            Line("Found", answer.markdown, answer.html(), as_markdown=True),
            _line("How sure", f"One run, with {strength(run)}."),
            _line("Setting", f"{setting.brief(run, labelled(run))}."),
        ]
    tiles = _tiles(run, leads)
    shown = "".join(
        f"<div><dt>{escape_html(name)}</dt><dd>{escape_html(value)}</dd><dd>{escape_html(why)}</dd></div>"
        for name, value, why in tiles
    )
    badge = "; ".join(filter(None, [declared(run), *(claim.conditions(lead) if lead else ())]))
    marked = f"<b>{escape_html(badge)}</b> " if badge else ""
    markup = (
        f'<div class="bb-finding"><dl class="bb-lines">{definitions(lines)}</dl></div>'
        f'<dl class="bb-tiles">{shown}</dl>'
        f'<p class="bb-strength">{marked}<span>{run_line(run).markdown}</span></p>'
    )
    plain = "\n\n".join(
        f"**{one.name}.** {one.text if one.as_markdown else escape_markdown(one.text)}" for one in lines
    )
    listed = "\n".join(f"- {escape_markdown(f'{name}: {value} ({why})')}" for name, value, why in tiles)
    noted = f"{escape_markdown(badge)}. " if badge else ""
    return Block(markup, f"{plain}\n\n{listed}\n\n{noted}{run_line(run).markdown}")


class Line(NamedTuple):
    """A line of the headline."""

    name: str
    text: str
    markup: str
    """The text in HTML."""
    as_markdown: bool = False
    """True if the text is Markdown."""


def definitions(lines: Iterable[Line]) -> str:
    """Return lines as the terms and descriptions of a list in HTML; lines in a row with one name share it."""
    return "".join(
        f"<dt>{escape_html(name)}</dt>{''.join(f'<dd>{one.markup}</dd>' for one in of)}"
        for name, of in itertools.groupby(lines, lambda one: one.name)
    )


def _line(name: str, text: str) -> Line:
    return Line(name, text, escape_html(text))


MOST_LINES = 4
"""Claims in the headline; more only if the first conclusion has more, which are then the only ones."""


def leading(run: Run) -> list[tuple[str, Judgement]]:
    """Return label and judgement of the claims that the page begins with, by rule.

    They are all claims on the first conclusion of the publication, then the first claim on each further one, in its
    order, up to ``MOST_LINES`` claims in total. Without declared conclusions, it is the first published claim with a
    ratio that is no trend; without a publication, these are the first ``MOST_LINES``.
    """
    from benchbook.analyse import claims

    if run.against_itself or not run.declared.get("claims"):
        return []
    judged = {one.id: one for one in claims.over(run)}
    by_number: dict[int, list[Judgement]] = {}
    for name, stated in Catalogue().claims(run.experiment).items():
        if name in judged and isinstance(number := stated.get("conclusion"), int):
            by_number.setdefault(number, []).append(judged[name])
    if not by_number:
        # A trend alone has one side, so it is no answer.
        others = [
            one for one in judged.values() if claim.has_ratio(one) and one.cells and one.test not in TRENDS
        ]
        # Claims of one's own answer a question together; of a publication, the first one leads.
        most = MOST_LINES if Catalogue().publication(run.experiment) is None else 1
        return [("Found", one) for one in sorted(others, key=lambda one: one.own)[:most]]
    first, *further = sorted(by_number)
    found = [(first, one) for one in by_number[first]] + [
        (number, by_number[number][0]) for number in further
    ]
    return [(f"Conclusion {number}", one) for number, one in found[: max(MOST_LINES, len(by_number[first]))]]


PASSED = {"kept": "passed", "partly": "passed, with exceptions", "not kept": "not passed"}
"""Mark of rule 9 → whether the checks of the work passed."""


WEAK = {
    "few trials": f"fewer than {FEW} trials",
    "short phases": "short phases",
    "scaled down": "scaled down",
}
"""What weakens the evidence → in words."""


def _tiles(run: Run, leads: Sequence[Judgement]) -> list[tuple[str, str, str]]:
    found = []
    lead = next(iter(leads), None)
    if lead is not None:
        stated = claim.stated(lead)
        own = lead.own
        found = [
            (
                "Published" if own or stated.kind == "=" else "Claimed",
                "not asked" if own else claim.published_words(lead) if stated.value else "no number",
                lead.source if lead.published is not None else f"read from the words of {lead.source}",
            ),
            ("Rerun", claim.measured_words(lead), _how_sure(lead)),
        ]
    return [*found, _checks(run, leads)]


def _checks(run: Run, leads: Sequence[Judgement]) -> tuple[str, str, str]:
    """Return the tile of the checks: rule 9, and whether it concerns the systems that the finding compares."""
    work = rules.same_work(run)
    flagged = same_work.of_run(run).flagged
    compared = {
        (cell.system, cell.levels.get("arm", ""))
        for one in leads
        for held in one.cells
        for cell in held.sides.cells
    }
    if flagged and compared and not flagged & compared:
        odd = listing([f"{run.title(one)} with {claim.arm_words(run, arm)}" for one, arm in sorted(flagged)])
        return "Checks", "passed for what is compared", f"{odd} gave other answers; the finding leaves it out"
    failed = run.frame("errors")["operations"].sum() or 0
    concerned = any(
        run.failed(cell, held.sides.levels.get(PHASE, one.phase))
        for one in leads
        for held in one.cells
        for cell in held.sides.cells
    )
    if (
        compared
        and work.mark == "partly"
        and not any(wrong for _, wrong in run.checks.values())
        and not concerned
    ):
        return (
            "Checks",
            "passed for what is compared",
            f"{quantity.counted(int(failed), 'failed operation')}, all in other setups",
        )
    return "Checks", PASSED.get(work.mark, work.mark), reasons.why(work)


def _how_sure(lead: Judgement) -> str:
    """Return the interval of a claim, its trials and its answer."""
    trials = claim.trials_words([cell for held in lead.cells for cell in held.sides.cells])
    trials = claim.rests(lead) if lead.scope != "run" else f"{trials} of each side"
    if ends(lead):
        return f"{trials}: {claim.word(lead)}"
    around = claim.interval(lead.low, lead.high) or "unknown"
    when = "decided after " if lead.level < ALPHA else ""
    wide = ", at a level above 95 % because it was judged after each block" if lead.level < ALPHA else ""
    return f"{claim.interval_name([lead])} {around}, {when}{trials}{wide}: {claim.word(lead)}"


def how_sure(run: Run, leads: Sequence[Judgement]) -> str:
    """Return what the answers rest on, and what to expect of the first ratio on another processor."""
    lead = leads[0]
    rests = [claim.rests(lead)] if lead.cells else []
    said = [*rests, _elsewhere(lead, "this" if len(leads) == 1 else "the first"), strength(run, lead.phase)]
    return " ".join(f"{one}." for one in said if one)


def _elsewhere(lead: Judgement, which: str) -> str:
    """Return what to expect of the ratios of a claim on another processor; empty where that is unknown."""
    if lead.expect is not None:
        return f"On another processor, expect {which} ratio to be {claim.interval(*lead.expect)}"
    each = [over.expect(lead.level) for over in lead.by_case if over]
    if not each or len(each) < len(lead.cells):
        return ""
    low, high = (quantity.number(end) for end in (min(low for low, _ in each), max(high for _, high in each)))
    return f"On another processor, expect the ratios of {which} claim between {low} and {high}"


def strength(run: Run, phase: str | None = None) -> str:
    """Return how strong the evidence of a run is: its trials and machine, and the length of a phase."""
    found = grade.strength(run, phase)
    several = f"{found.fewest}" if found.fewest == found.most else f"{found.fewest} to {found.most}"
    parts = ["1 trial of each setup" if several == "1" else f"{several} trials of each setup"]
    parts += [f"{found.cores} cores"] if found.cores else []
    middle = found.median_seconds
    parts += [f"median length of a phase {quantity.text(middle, 's')}"] if middle else []
    weak = f" ({', '.join(WEAK[one] for one in found.weak)})" if found.weak else ""
    return f"{', '.join(parts)}{weak}"


def declared(run: Run) -> str:
    """Return how many claims a run has, and whether they were declared before it; empty without claims."""
    from benchbook.analyse import claims

    found = [] if run.against_itself else claims.declared(run)[0]
    if not found:
        return ""
    later = sum(bool(corrected_after(one, run)) for one in found)
    counted = quantity.counted(len(found), "claim")
    said = f"{later} of them declared or corrected after the run" if later else "declared before the run"
    reworded = sum(reworded_after(one, run) for one in found)
    return f"{counted}, {said}{f', {reworded} worded otherwise since' if reworded else ''}"


def refused(run: Run, title: str) -> Markdown | None:
    """Return the sentence that replaces a comparison, or None if systems are comparable.

    Systems without a majority for one answer are not compared. If there is a majority, the comparison includes the
    systems that differ, and their labels have a flag (``analyse.cells``).
    """
    if not same_work.faults(run) or (same_work.of_run(run).flagged and not same_work.of_run(run).undecided):
        return None
    # No ``Missing``: a page shows this sentence, while charts without data vanish.
    return Markdown(
        missing(
            title, "the systems did not give the same answers, so their speeds are not comparable"
        ).markdown
    )


def question(run: Run) -> Markdown:
    """Return the declared question of the experiment."""
    return Markdown(
        f"**{escape_markdown(run.info['question'] or run.info['title'] or run.info['experiment'])}**"
    )


def run_line(run: Run) -> Markdown:
    """Return a line with the run's id, profile, number of trials and start."""
    info, trials = run.info, run.frame("trials")
    counted = f"{run.ok.height} of {info['planned_trials'] or trials.height} trials valid"
    blocks = quantity.counted(trials["block"].n_unique(), "block")
    when = f", {info['started_at']:%Y-%m-%d %H:%M} UTC" if info["started_at"] else ""
    return Markdown(f"Run {code(run.run_id)}, profile {code(info['profile'])}, {counted}, {blocks}{when}.")


def answer_sentence(run: Run) -> Markdown:
    """Return the answer in one sentence for each kind of system: embedded, and servers; or what an A/A run found."""
    faults = same_work.faults(run)
    if faults:
        return Markdown(
            f"No answer: {escape_markdown(reasons.sentence(faults))}. Speeds are comparable only for the same work."
        )
    measured = [cell for cell in labelled(run) if cell.ok]
    if not measured:
        return Markdown("No answer: this run has no valid trial. The list of gaps gives the reasons.")
    if (decided := gate.of_run(run)) is not None:
        return Markdown(escape_markdown(gate.sentence(decided)))
    if run.against_itself and (found := limits_of.itself(run)):
        return Markdown(escape_markdown(found))
    kinds = [
        [cell for cell in measured if run.embedded(cell.system) == embedded] for embedded in (True, False)
    ]
    sentences = [_sentence(run, cells) for cells in kinds if cells]
    if lost := run.frame("trials").height - run.ok.height:
        are = "trial does" if lost == 1 else "trials do"
        sentences.append(f"{lost:,} {are} not count; the list of gaps gives the reasons.")
    return Markdown(" ".join(escape_markdown(sentence) for sentence in sentences))


def _sentence(run: Run, cells: list[Cell]) -> str:
    """Return which of these cells is faster at loading, at queries and in other phases, or that there is no verdict."""
    if len(cells) == 1:
        return _alone(run, cells[0])
    parts = [_load(run, phase, cells) for phase in run.loads]
    parts += _queries(run, cells) if run.queries else []
    parts += _others(run, cells)
    said = [part for part in parts if part]
    return " ".join(f"{part}." for part in [f"On this machine, {said[0]}", *said[1:]]) if said else ""


def _alone(run: Run, cell: Cell) -> str:
    """Return the numbers of a cell that has nothing to be compared with."""
    kind, others = (
        ("embedded system", "servers") if run.embedded(cell.system) else ("server", "embedded systems")
    )
    loads = [found.text() for phase in run.loads for found in _of(run, phase, "rows_per_second", [cell])]
    medians = [
        f"{found.text()} ({phase})"
        for phase in run.queries
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
    verdicts = comparison.verdicts(pairs, comparison.ranked(run))
    if verdicts[0].winner is None:
        return f"at loading, {reasons.text(verdicts[0].reason)}"
    rates = f"{pairs[0].above.text()} compared with {', '.join(pair.below.text() for pair in pairs)}"
    return f"at loading, {reasons.sentence([one.reason for one in verdicts])}: {rates}"


class Tally(NamedTuple):
    """In what each of some cells is ahead of all others."""

    ahead: dict[str, dict[Pair, float]]
    """Label of a cell → phase and metric, and the factor by which the next cell is worse."""
    unclear: list[Pair]
    """The metrics in which no cell is better than all others for certain."""
    unjudged: list[Reason | None]
    """For each metric that is not judged, why."""

    def rest(self, what: str, of: int) -> list[str]:
        """Say in how many none is ahead, and how many are not judged; ``what``: such as "query types"."""
        parts = (
            [f"In {len(self.unclear)} of {of} {what}, no system is ahead of all others"]
            if self.unclear
            else []
        )
        if self.unjudged:
            whys = dict.fromkeys(reasons.briefly(one) for one in self.unjudged if one)
            are = "is" if len(self.unjudged) == 1 else "are"
            why = f" ({'; '.join(whys)})" if whys else ""
            parts.append(f"{len(self.unjudged)} of {of} {what} {are} not judged{why}")
        return parts


def _tally(run: Run, pairs: Sequence[Pair], cells: list[Cell]) -> Tally:
    """Return which cell is ahead in which metric; all comparisons of the run are one family."""
    by_pair = [leads(run, *pair, cells) for pair in pairs]
    said = iter(comparison.verdicts([one for found in by_pair for one in found], comparison.ranked(run)))
    tally = Tally({}, [], [])
    for pair, found in zip(pairs, by_pair, strict=True):
        verdicts = [next(said) for _ in found]
        if not found:
            continue
        if all(one.winner == found[0].above.cell.label for one in verdicts):
            ahead = tally.ahead.setdefault(found[0].above.cell.label, {})
            ahead[pair] = found[0].advantage.value or 1.0
        elif run.queued(*pair):  # said of each cell by ``_saturated``
            continue
        elif untested := [one.reason for one in verdicts if one.reason.code in NO_VERDICT]:
            tally.unjudged.append(untested[0].facts["because"])
        else:
            tally.unclear.append(pair)
    return tally


def _factors(found: Collection[float]) -> str:
    """Return the least and the largest factor in words.

    >>> _factors([2.5]), _factors([1.5, 2.5])
    ('2.50', '1.50 to 2.50')
    """
    low, high = quantity.number(min(found)), quantity.number(max(found))
    return low if low == high else f"{low} to {high}"


def _queries(run: Run, cells: list[Cell]) -> list[str]:
    """Return for each system in how many query types it has a shorter median latency than all others."""
    phases = run.queries
    tally = _tally(run, [(phase, "latency_p50") for phase in phases], cells)
    parts = []
    for label, ahead in tally.ahead.items():
        others = [cell.label for cell in cells if cell.label != label]
        parts.append(
            f"{label} has the shortest median latency in {len(ahead)} of {len(phases)} query types, where "
            f"{others[0] if len(others) == 1 else 'the next system'} takes {_factors(ahead.values())} times as long"
        )
    full = [phase for phase in phases if run.queued(phase, "latency_p50")]
    return (
        parts
        + tally.rest("query types", len(phases))
        + [sentence for phase in full for sentence in _saturated(run, phase, cells)]
    )


def _others(run: Run, cells: list[Cell]) -> list[str]:
    """Return for each system in which phases of other workloads it is better than all others."""
    known = {TRIAL, *run.loads, *run.queries}
    pairs = [pair for pair in comparison.metrics(run) if pair[0] not in known]
    by_phase = Counter(phase for phase, _ in pairs)
    tally = _tally(run, pairs, cells)
    parts = []
    for label, ahead in tally.ahead.items():
        named = [
            phase if by_phase[phase] == 1 else f"{claim.title_within(metric)} of {phase}"
            for phase, metric in ahead
        ]
        of = f" of {len(pairs)} comparisons" if len(pairs) > 1 else ""
        where = f"in {len(ahead)}{of} ({listing(named)})" if of else f"in {named[0]}"
        by = _factors(ahead.values())
        parts.append(f"{label} is ahead of all others {where}, and of the next one by a factor of {by}")
    return parts + tally.rest("comparisons", len(pairs))


def _saturated(run: Run, phase: str, cells: list[Cell]) -> list[str]:
    """Return for each cell that did not reach the offered rate of a phase what was offered and what it reached."""
    said, queued = [], run.queued(phase, "latency_p50")
    for cell in cells:
        offered = run.values(cell, (phase, "offered_per_second"))
        blocks = [block for block, trial_id in offered.trial_ids.items() if trial_id in queued]
        if blocks:
            rates = run.values(cell, (phase, "queries_per_second"))
            reached, of = (median(one.by_block[block] for block in blocks) for one in (rates, offered))
            said.append(
                f"{cell.label} was saturated in {phase}: in {len(blocks)} of {len(offered.trial_ids)} trials it "
                f"reached {quantity.number(reached)} of {quantity.number(of)} offered queries per second, so "
                "their latencies are not compared"
            )
    return said


def findings(run: Run) -> Markdown:
    """Return a list with a sentence for each comparison with the baseline."""
    if faults := same_work.faults(run):
        return missing("The list of findings", reasons.sentence(faults))
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
    return f"{what}: {reasons.text(said.reason)}; {numbers}."


def limits(run: Run) -> Markdown:
    """Return the limits of the run as a list."""
    return Markdown("\n".join(f"- {escape_markdown(sentence)}" for sentence in limits_of.limits(run)))
