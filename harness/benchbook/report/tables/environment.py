"""The environment of a run: the machine, its kernel, file system, memory and limits, and the harness itself."""

from __future__ import annotations

from benchbook.report import fact
from benchbook.report.results import Run
from benchbook.report.table import Code, Table
from benchbook.report.words import Words, missing

FIRST = ("machine", "cpu", "memory", "kernel", "operating_system", "virtualisation", "filesystem", "limits", "cgroup")
"""Topics of the host in the order they are read; the others follow as they were recorded."""


def table(run: Run) -> Table | Words:
    """Return every recorded fact of the machine, one a row; a fact that could not be read says so."""
    facts = run.facts("host")
    if not facts:
        return missing("The environment", "the run has no facts of its machine")
    order = [topic for topic in FIRST if topic in facts] + sorted(set(facts) - set(FIRST))
    rows = [[name, value] for topic in order for name, value in fact.lines(facts[topic], (topic,))]
    return Table(["Fact", "Found"], rows)


def provenance(run: Run) -> Table | Words:
    """Return what identifies the harness and its inputs: revision, digests, seed."""
    facts = run.facts("provenance")
    if not facts:
        return missing("The provenance", "the run has none recorded")
    rows: list[list[str | Code]] = [["run", Code(run.run_id)], ["order seed", str(run.info["order_seed"])]]
    for name, value in fact.lines(facts):
        long = value.startswith("sha256:") or len(value) >= 40
        rows.append([name, Code(value) if long else value])
    return Table(["What", "Which"], rows)
