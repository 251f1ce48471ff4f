"""The verdict on each claim of a run, with the published and the measured ratio and the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchbook.declare.catalogue import root
from benchbook.report import bound, quantity
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing

if TYPE_CHECKING:
    from benchbook.analyse.claims import Judgement


def table(run: Run) -> Table | Words:
    """Return one row a claim, in the order in which the experiment declares them.

    What is said of every claim, as the number of trials, stands once in the caption.
    """
    from benchbook.analyse import claims

    found = claims.judge_run(run.results, run.run_id, root() / "datasets" / "published")
    if not found:
        return missing("The verdicts", "the run declared no claims")
    reasons, common = shared([one.reason for one in found])
    rows = [
        [
            f"{one.statement} ({one.source})",
            str(one.verdict),
            _published(one),
            _measured(one),
            why,
        ]
        for one, why in zip(found, reasons, strict=True)
    ]
    columns = ["Claim", "Verdict", "Published", "Measured (95 % interval)", "Why"]
    return Table(columns, rows, caption=f"Of every claim: {common}." if common else "", stacked=True)


def shared(reasons: list[str]) -> tuple[list[str], str]:
    """Return what each reason says beyond the others, and what more than two all say.

    >>> shared(["near; 3 trials", "far; 3 trials", "3 trials"])
    (['near', 'far', 'nothing else'], '3 trials')
    """
    parts = [reason.split("; ") for reason in reasons]
    common = [part for part in parts[0] if len(parts) > 2 and all(part in other for other in parts)]
    own = ["; ".join(part for part in one if part not in common) for one in parts]
    return [reason or "nothing else" for reason in own], "; ".join(common)


def counts(run: Run) -> Words:
    """Say in a sentence how many claims got which verdict."""
    from benchbook.analyse import claims

    found = claims.judge_run(run.results, run.run_id, root() / "datasets" / "published")
    words = [str(one.verdict) for one in found]
    if not words:
        return missing("The verdicts", "the run declared no claims")
    parts = [f"{words.count(word)} {word}" for word in dict.fromkeys(words)]
    return Words(f"Of {len(words)} claims: {', '.join(parts)}.")


def _published(one: Judgement) -> str:
    """Return the ratio that was published, or the bound that the claim states in words."""
    if one.published is None:
        return quantity.MISSING
    return f"{bound.SIGNS.get(one.test, '')}{quantity.number(one.published)}"


def _measured(one: Judgement) -> str:
    if one.measured is None:
        return quantity.MISSING
    if one.low is None or one.high is None:
        return quantity.number(one.measured)
    pooled = f", {len(one.cells)} cells pooled" if len(one.cells) > 1 else ""
    return (
        f"{quantity.number(one.measured)} ({quantity.number(one.low)} to {quantity.number(one.high)}){pooled}"
    )
