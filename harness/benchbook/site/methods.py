"""The page of methods: the rules of measurement, and for every published run whether each was kept."""

from __future__ import annotations

from benchbook.analyse.rules import rules
from benchbook.analyse.run import Run
from benchbook.declare.catalogue import root
from benchbook.report.table import Details, Table, Words, escape_markdown, missing
from benchbook.site import published


def listing() -> Words:
    """Return the rules as a numbered list."""
    return Words(
        "\n".join(
            f"{one.number}. **{escape_markdown(one.name)}.** {escape_markdown(one.rule)}" for one in rules()
        )
    )


MARKS = {"kept": "✓ kept", "partly": "◐ partly", "not kept": "✗ not kept", "no matter here": "no matter here"}
"""Marks as a page shows them: the sign, and the word for who cannot see it."""


def of(run: Run) -> Table:
    """Return one row a rule: whether this run kept it, and why not where it did not, or could not here."""
    found = [(rule, rule.finding(run)) for rule in rules()]
    rows = [[f"{rule.number}. {rule.name}", MARKS[one.mark], one.why] for rule, one in found]
    kept = sum(one.mark in ("kept", "no matter here") for _, one in found)
    return Table(
        ["Rule", "Mark", "Why"],
        rows,
        f"{kept} of {len(rows)} rules kept without reserve, or of no matter in this run",
        stacked=True,
    )


def matrix() -> Table | Words:
    """Return one row a rule and one column a published run: kept, partly, not kept, or no matter here."""
    runs = published.opened(root())
    if not runs:
        return missing(
            "What was kept", "no run is published yet; publish one with: ./bench export RUN --publish"
        )
    rows = [
        [f"{rule.number}. {rule.name}", *(MARKS[rule.finding(run).mark] for run in runs)] for rule in rules()
    ]
    return Table(["Rule", *(run.info["experiment"] for run in runs)], rows)


def reasons() -> Details | Words:
    """Return why each mark stands where it does, folded."""
    runs = published.opened(root())
    if not runs:
        return Words("")
    rows = [
        [run.info["experiment"], f"{rule.number}. {rule.name}", found.mark, found.why]
        for run in runs
        for rule in rules()
        for found in [rule.finding(run)]
    ]
    return Details(
        f"Why: all {len(rows)} marks with their reasons", Table(["Experiment", "Rule", "Mark", "Why"], rows)
    )
