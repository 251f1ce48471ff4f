"""The part of a report on every published run of its experiment: none is replaced, so readers see all of them."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from benchbook.analyse import machines
from benchbook.analyse.judgement import Answer
from benchbook.analyse.machines import Finding, Machines, Result
from benchbook.analyse.run import Run
from benchbook.declare.checkout import root
from benchbook.record import ledger
from benchbook.record.ledger import Earlier, Entry, Withdrawal
from benchbook.report import claim, holding, links, opening
from benchbook.report.table import Block, Details, Link, Table, escape_html, escape_markdown

HERE = "this page"
NOT_RUN = "not run"
"""Verdict of a run that did not judge a claim or a comparison, or declared it differently."""


def section(run: Run) -> Block | None:
    """Return the list of all published runs, and what each found; None if there is no other."""
    every = opening.entries(run)
    held = [one for one in reversed(every) if not one.export.against_itself]
    unpublished = ledger.unpublished(root() / ledger.DATA / run.experiment, every)
    if len(held) < 2 and not unpublished:
        return None
    found = _found(run)
    title = (
        f"All {len(held)} published runs of this experiment"
        if len(held) > 1
        else "The runs of this experiment"
    )
    parts = [
        (f'<h2 id="runs">{title}</h2>', f"## {title}"),
        (f"<p>{escape_html(sentence(found))}</p>", escape_markdown(sentence(found))),
    ]
    folded = {"The runs": _table(run, held, found)}
    if len(held) > 1:
        folded[f"Every {found.noun} in each run"] = _findings(found)
    if unpublished:
        folded["Runs that were made and not published"] = _unpublished(unpublished)
    parts += [
        (Details(name, made).html(), f"**{name}**\n\n{made.markdown()}") for name, made in folded.items()
    ]
    return Block("".join(markup for markup, _ in parts), "\n\n".join(written for _, written in parts))


@functools.cache
def _found(run: Run) -> Machines:
    """Compare the published runs of the same experiment that count with a run, each judged alone."""
    counted = (one for one in opening.entries(run) if one.answers)
    others = {one.export.run_id: opening.in_ledger(run, one) for one in reversed([*counted])}
    return machines.of_runs({run.run_id: run} | others)


def of_claim(run: Run, claim_id: str) -> list[tuple[str, str, str]]:
    """Return run, answer and ratio of a claim in each run of the same work, each judged alone, the latest first."""
    found = [one for one in _found(run).findings if one.id == claim_id]
    rows = [_row(result) for one in found for result in one.results if result.verdict != NOT_RUN]
    return sorted(rows, key=lambda row: row[0].rpartition("-")[0], reverse=True)


def _row(result: Result) -> tuple[str, str, str]:
    ratio = claim.ratio_text(result.value, result.low, result.high)
    return result.machine, holding.said(result.said), ratio


def sentence(found: Machines) -> str:
    """Return how far the runs agree: the answers of the runs that did the same work as this one.

    An answer that decides nothing counts as an answer of its own: a reader of one run alone would have met it.
    """
    judged = [one for one in found.findings if len(_said(one)) > 1]
    same = sum(len(set(_said(one))) == 1 for one in judged)
    if not judged:
        return (
            f"No {found.noun} was judged in more than one run with the same data, configuration and declaration, so "
            "the runs cannot be compared."
        )
    return (
        f"Runs are published as they are made and never replaced. {len(judged)} {found.noun}s were judged in more than "
        f"one run of the same work; {same} of them have the same answer in every run."
    )


def _said(one: Finding) -> list[Answer | str]:
    return [result.said for result in one.results if result.verdict != NOT_RUN]


def _table(run: Run, held: list[Entry], found: Machines) -> Table:
    """Return a row for each run, the latest first: when, where, how many trials, and how its answers agree."""
    rows: list[list[str | Link]] = [
        [
            Link(one.export.run_id, links.of_run(one.export.run_id)),
            one.created_at[:10],
            name,
            one.export.profile,
            str(one.export.trials),
            _agreement(run, one, found),
        ]
        for one, name in zip(held, opening.names(held), strict=True)
    ]
    return Table(
        ["Run", "Date", "Processor", "Profile", "Trials", "Answers as on this page"], rows, stacked=True
    )


def _unpublished(found: Mapping[Earlier, Withdrawal | None]) -> Table:
    """Return a row for each run that was made and not published, with the reason."""
    rows = [
        [
            one.run_id,
            one.date,
            one.profile,
            str(one.trials),
            f"{why.reason} ({why.by}, {why.date})" if why else "no reason was recorded",
        ]
        for one, why in found.items()
    ]
    return Table(["Run", "Date", "Profile", "Trials", "Why"], rows, stacked=True)


def _agreement(run: Run, entry: Entry, found: Machines) -> str:
    if entry.export.run_id == run.run_id:
        return HERE
    if entry.withdrawal is not None:
        return f"withdrawn on {entry.withdrawal.date} by {entry.withdrawal.by}: {entry.withdrawal.reason}"
    if why := found.left_out.get(entry.export.run_id):
        return f"not comparable: {why.rstrip('.')}"
    pairs = [
        (own.said, other.said)
        for one in found.findings
        for own in one.results
        for other in one.results
        if (own.machine, other.machine) == (run.run_id, entry.export.run_id) and other.verdict != NOT_RUN
    ]
    return f"{sum(own == other for own, other in pairs)} of {len(pairs)}"


def _findings(found: Machines) -> Table:
    """Return a row for each finding and run: answer and ratio."""
    rows = [
        [one.statement, *_row(result)]
        for one in found.findings
        for result in one.results
        if result.verdict != NOT_RUN
    ]
    return Table([found.noun.capitalize(), "Run", "Answer", "Ratio (95 % CI)"], rows, stacked=True)
