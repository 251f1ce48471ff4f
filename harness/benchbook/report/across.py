"""The part of a report on its claims in every scope: in its run, on its processor, over processors, on another one."""

from __future__ import annotations

import math
from collections.abc import Iterator

from benchbook.analyse import claims, quantity
from benchbook.analyse.model import Fit
from benchbook.analyse.run import Run
from benchbook.report import claim
from benchbook.report.table import Block, Details, Table, escape_html, escape_markdown

TITLE = "What to expect on another processor"
NOTE = (
    "Verdicts on this page rest on all runs that did the same work: on this processor, or over processors if several "
    "have been measured. How much ratios differ between processors is learned from all experiments."
)
COLUMNS = (
    "Claim", "This run alone (95 % CI)", "On this processor (95 % CI)", "Mean over processors (95 % CI)",
    "On another processor expect", "Processors", "Runs",
)  # fmt: skip


def section(run: Run) -> Block | None:
    """Return the ratio of each claim in every scope; None if the run has no claim with a ratio over runs."""
    rows = list(_rows(run))
    if not rows:
        return None
    name, table = (
        "Every claim over all runs",
        Table(COLUMNS, rows, numeric=frozenset(COLUMNS[-2:]), stacked=True),
    )
    return Block(
        f'<h2 id="another-processor">{TITLE}</h2><p>{escape_html(NOTE)}</p>{Details(name, table).html()}',
        f"## {TITLE}\n\n{escape_markdown(NOTE)}\n\n**{name}**\n\n{table.markdown()}",
    )


def _rows(run: Run) -> Iterator[list[str]]:
    """Yield a row for each case of a claim that has an estimate over runs."""
    if run.against_itself or not run.declared.get("claims"):
        return
    for one in claims.over(run):
        alone = (one.alone or one).cells
        factors = claim.differing_factors(one.cells) if len(one.cells) > 1 else []
        for cell, over, own in zip(one.cells, one.by_case, alone, strict=True) if one.by_case else ():
            if over is None:
                continue
            case = f" ({claim.case(cell.sides.levels, factors)})" if factors else ""
            yield [
                claim.statement(one) + case,
                claim.ratio_text(own.measured, own.low, own.high),
                in_words(over.fits("processor")[0]),
                in_words(over.estimate.mean) if over.processors > 1 else quantity.MISSING,
                claim.interval(*over.expect()),
                str(over.processors),
                str(len(over.members)),
            ]


def in_words(one: Fit) -> str:
    """Return an estimate with its 95 % CI."""
    low, high = map(math.exp, one.interval())
    return claim.ratio_text(math.exp(one.centre), low, high)
