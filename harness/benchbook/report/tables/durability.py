"""Durability side by side: what has happened to the data when each system acknowledges a write."""

from __future__ import annotations

from benchbook.report import cell, fact
from benchbook.report.results import Run
from benchbook.report.table import Table
from benchbook.report.words import Words, missing

COLUMNS = {
    "fsync": "Flush to disk",
    "wal": "Write-ahead log",
    "replication": "Replication",
    "compression": "Compression",
}

UNKNOWN = "unknown: a running server"
"""What is said of a server that was given by its address."""


def table(run: Run) -> Table | Words:
    """Return one row a system and arm, with the settings that differ from the system's defaults."""
    declared = cell.systems(run)
    programs = run.facts("programs")
    rows = []
    for system, arm in dict.fromkeys((one.system, one.arm) for one in cell.cells(run)):
        known = declared.get(system, {})
        named = (known.get("arms") or {}).get(arm) or {}
        durability = named.get("durability") or known.get("durability") or {}
        settings = named.get("settings") or {}
        changed = ", ".join(f"{key} = {fact.text(value)}" for key, value in settings.items())
        stated = [str(durability.get(key) or "not declared") for key in COLUMNS]
        if (programs.get(system) or {}).get("url"):
            # Whoever started that server configured it; what an arm declares was never applied to it.
            stated, changed = [UNKNOWN] * len(COLUMNS), UNKNOWN
        rows.append([cell.title(run, system), arm or "vanilla", *stated, changed or "none"])
    if not rows:
        return missing("The durability of the systems", "no trial is recorded")
    return Table(["System", "Arm", *COLUMNS.values(), "Settings changed"], rows)
