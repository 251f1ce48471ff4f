"""The page of methods: the rules of measurement, and for every published run whether each was kept."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

from benchbook.declare.catalogue import root
from benchbook.report.details import Details
from benchbook.report.markup import escape_markdown
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing
from benchbook.site import published
from benchbook.site.rule_checks import CHECKS
from benchbook.site.rule_marks import Finding

FILE = Path(__file__).with_name("rules.toml")
ALWAYS = Finding("kept", "by the way the program works")
"""Of rules that the program has no way to break."""


@dataclass(frozen=True)
class Rule:
    """One rule; ``check`` names the function that says of a run whether it was kept."""

    number: int
    name: str
    rule: str
    check: str | None = None

    def finding(self, run: Run) -> Finding:
        """Say whether a run kept it."""
        return CHECKS[self.check](run) if self.check else ALWAYS


@functools.cache
def rules() -> tuple[Rule, ...]:
    """Return the rules in their order."""
    stated = tomllib.loads(FILE.read_text(encoding="utf-8"))["rules"]
    return tuple(Rule(number, **one) for number, one in enumerate(stated, 1))


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
