"""The verdict on each claim of a run, with the published and the measured ratio and the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchbook.declare.catalogue import root
from benchbook.report import quantity
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing

if TYPE_CHECKING:
    from benchbook.analyse.claims import Judgement

BOUNDS = {"at-least": "≥ ", "at-most": "≤ "}
"""Before the number of a claim that states a side of it, by its test."""


def table(run: Run) -> Table | Words:
    """Return one row a claim, in the order in which the experiment declares them."""
    from benchbook.analyse import claims

    found = claims.judge_run(run.results, run.run_id, root() / "datasets" / "published")
    if not found:
        return missing("The verdicts", "the run declared no claims")
    rows = [
        [
            f"{one.statement} ({one.source})",
            str(one.verdict),
            _published(one),
            _measured(one),
            one.reason,
        ]
        for one in found
    ]
    return Table(["Claim", "Verdict", "Published", "Measured (95 % interval)", "Why"], rows, stacked=True)


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
    return f"{BOUNDS.get(one.test, '')}{quantity.number(one.published)}"


def _measured(one: object) -> str:
    value, low, high = (getattr(one, name) for name in ("measured", "low", "high"))
    if value is None:
        return quantity.MISSING
    if low is None or high is None:
        return quantity.number(value)
    cells = len(getattr(one, "cells", ()))
    pooled = f", {cells} cells pooled" if cells > 1 else ""
    return f"{quantity.number(value)} ({quantity.number(low)} to {quantity.number(high)}){pooled}"
