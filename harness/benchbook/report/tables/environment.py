"""The environment of a run: the machine, its kernel, file system, memory and limits, and the harness itself."""

from __future__ import annotations

from typing import Any

import polars as pl

from benchbook.report import fact, quantity
from benchbook.report.details import Details
from benchbook.report.results import Run
from benchbook.report.table import Code, Table
from benchbook.report.words import Words, missing

FIRST = (
    "machine",
    "cpu",
    "memory",
    "kernel",
    "operating_system",
    "virtualisation",
    "filesystem",
    "limits",
    "cgroup",
)
"""Topics of the host in the order they are read; the others follow by name, among all facts only."""
SHORT = 260
"""Characters of a topic's facts in the short table."""
DURING = {
    "machine_steal_fraction": "Time stolen by the hypervisor",
    "psi_cpu_some_fraction": "Time some program waited for a processor",
    "psi_io_some_fraction": "Time some program waited for the disk",
    "psi_memory_some_fraction": "Time some program waited for memory",
}


def table(run: Run) -> Table | Words:
    """Return the machine in short, one row a topic, and what happened to it while the trials ran."""
    facts = run.facts("host")
    if not facts:
        return missing("The environment", "the run has no facts of its machine")
    rows = [[fact.headed(topic), _short(facts[topic])] for topic in FIRST if topic in facts]
    return Table(["Part", "Found"], rows + _during(run))


def every(run: Run) -> Details | Words:
    """Return every recorded fact of the machine, folded; a fact that could not be read says so."""
    facts = run.facts("host")
    if not facts:
        return missing("The list of facts", "the run has no facts of its machine")
    order = [topic for topic in FIRST if topic in facts] + sorted(set(facts) - set(FIRST))
    rows = [[name, value] for topic in order for name, value in fact.lines(facts[topic], (topic,))]
    return Details(f"All {len(rows)} recorded facts of the machine", Table(["Fact", "Found"], rows))


def provenance(run: Run) -> Table | Words:
    """Return what identifies the harness and its inputs: revision, digests, seed."""
    facts = run.facts("provenance")
    if not facts:
        return missing("The provenance", "the run has none recorded")
    rows: list[list[str | Code]] = [["Run", Code(run.run_id)], ["Order seed", str(run.info["order_seed"])]]
    for name, value in fact.lines(facts):
        long = value.startswith("sha256:") or (len(value) >= 40 and " " not in value)
        rows.append([fact.headed(name), Code(value) if long else value])
    return Table(["What", "Which"], rows)


def _short(facts: Any) -> str:
    parts = [
        f"{name}: {value}" if name else value
        for name, value in fact.lines(facts)
        if value not in ("unknown", "")
    ]
    words = "; ".join(part for part in parts if "not readable" not in part) or "not readable"
    return words if len(words) <= SHORT else words[: words.rfind(";", 0, SHORT)] + "; …"


def _during(run: Run) -> list[list[str]]:
    rows = []
    taken = run.frame("measurements")
    for metric, name in DURING.items():
        values = taken.filter(pl.col("metric") == metric)["value"].drop_nulls()
        if len(values):
            mean, largest = float(values.to_numpy().mean()), float(values.to_numpy().max())
            words = (
                f"{quantity.percent(mean)} on average over the phases, at most {quantity.percent(largest)}"
            )
            rows.append([name, words])
    return rows
