"""Tables of the rules of measurement, and of whether each published run kept them."""

from __future__ import annotations

from benchbook.analyse.rules import rules
from benchbook.analyse.run import Run
from benchbook.declare.catalogue import root
from benchbook.report.reasons import why
from benchbook.report.table import Details, Markdown, Table, escape_markdown, missing
from benchbook.site import published


def listing() -> Markdown:
    """Return the rules as a numbered list."""
    return Markdown(
        "\n".join(
            f"{one.number}. **{escape_markdown(one.name)}.** {escape_markdown(one.rule)}" for one in rules()
        )
    )


MARKS = {
    "kept": "✓ kept", "partly": "◐ partly", "not kept": "✗ not kept", "not recorded": "not recorded",
    "not applicable": "not applicable",
}  # fmt: skip
"""Mark → its sign and text in a page."""


def marks(run: Run) -> Table:
    """Return a row for each rule: whether the run kept it, and why."""
    found = [(rule, rule.finding(run)) for rule in rules()]
    rows = [[f"{rule.number}. {rule.name}", MARKS[one.mark], why(one)] for rule, one in found]
    kept = sum(one.mark in ("kept", "not applicable") for _, one in found)
    return Table(
        ["Rule", "Mark", "Why"],
        rows,
        f"{kept} of {len(rows)} rules fully kept or not applicable",
        stacked=True,
    )


def matrix() -> Table | Markdown:
    """Return a row for each rule and a column for each published run: kept, partly, not kept or not applicable."""
    runs = published.opened(root())
    if not runs:
        return missing(
            "The table of rules",
            "there is no published run yet; publish one with: ./bench export RUN --publish",
        )
    rows = [
        [f"{rule.number}. {rule.name}", *(MARKS[rule.finding(run).mark] for run in runs)] for rule in rules()
    ]
    return Table(["Rule", *(run.info["experiment"] for run in runs)], rows)


def reasons() -> Details | Markdown:
    """Return the reason for each mark, folded."""
    runs = published.opened(root())
    if not runs:
        return Markdown("")
    rows = [
        [run.info["experiment"], f"{rule.number}. {rule.name}", found.mark, why(found)]
        for run in runs
        for rule in rules()
        for found in [rule.finding(run)]
    ]
    return Details(
        f"All {len(rows)} marks with their reasons", Table(["Experiment", "Rule", "Mark", "Why"], rows)
    )
