"""The part of a report on what to expect of its claims on other processors, from all published runs."""

from __future__ import annotations

import functools
import math
from collections import Counter

from benchbook.analyse import claims, priors, quantity, replication
from benchbook.analyse.model import Fit
from benchbook.analyse.processors import pooled
from benchbook.analyse.replication import Case
from benchbook.analyse.run import Run
from benchbook.analyse.wording import level_words
from benchbook.record import ledger
from benchbook.report import claim, opening
from benchbook.report.table import Block, Details, Table, escape_html, escape_markdown

TITLE = "What to expect on another processor"
NOTE = (
    "From all published runs that did the same work. How much ratios differ between processors is learned from all "
    "experiments. Verdicts on this page rest on its run alone."
)
COLUMNS = (
    "Claim", "On this processor (95 % CI)", "Mean over processors (95 % CI)", "On another processor expect",
    "Processors", "Runs",
)  # fmt: skip


def section(run: Run) -> Block | None:
    """Return the ratio of each claim over all published runs; None if the run is not published or has no claims."""
    rows = _rows(run)
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


def _rows(run: Run) -> list[list[str]]:
    statements = {one.id: claim.statement(one) for one in claims.of_run(run)} if _has_claims(run) else {}
    found = [one for one in of_claims(run) if one.claim in statements and _own(run, one)]
    many = Counter(one.claim for one in found)
    rows = []
    for one in found:
        own = _own(run, one)
        made = one.estimate(priors.recorded().priors[one.kind])
        statement = statements[one.claim or ""]
        rows.append(
            [
                f"{statement} ({_levels(run, one)})" if many[one.claim] > 1 else statement,
                *map(_text, (pooled([held.fit for held in one.processors[own[0].processor]]), made.mean)),
                claim.interval(*map(math.exp, made.another.interval())),
                str(made.processors),
                str(made.runs),
            ]
        )
    return rows


def _has_claims(run: Run) -> bool:
    return bool(run.declared.get("claims")) and not run.against_itself


@functools.cache
def of_claims(run: Run) -> tuple[Case, ...]:
    """Return the cases of claims over all runs that the ledger has of an experiment; none for an unpublished run."""
    groups = ledger.by_processor(opening.entries(run))
    runs = [
        (processor, opening.in_ledger(run, one)) for processor, group in enumerate(groups) for one in group
    ]
    return tuple(replication.cases(run.experiment, runs, of_claims=True))


def _own(run: Run, one: Case) -> list[replication.Measured]:
    return [held for held in one.found if held.run_id == run.run_id]


def _levels(run: Run, one: Case) -> str:
    """Return the levels that both setups of a case share, of the factors that vary in the run."""
    above, below = (next(cell for cell in run.cells if cell.name == name) for name in one.sides)
    shared = [held for held in above.varying if held in below.varying]
    return ", ".join(level_words(*held) for held in shared) or above.label


def _text(one: Fit) -> str:
    low, high = map(math.exp, one.interval())
    return f"{quantity.number(math.exp(one.centre))} ({claim.interval(low, high)})"
