"""Pins: which program each system was, where it came from, and the version that it stated itself."""

from __future__ import annotations

import polars as pl

from benchbook.report import cell
from benchbook.report.quantity import MISSING
from benchbook.report.results import Run
from benchbook.report.table import Code, Table
from benchbook.report.words import Words, missing


def table(run: Run) -> Table | Words:
    """Return one row a system of the run, found or not."""
    programs = run.facts("programs")
    declared = cell.systems(run)
    rows: list[list[str | Code]] = []
    for system in dict.fromkeys(one.system for one in cell.cells(run)):
        program = programs.get(system) or {}
        stated = run.frame("trials").filter(
            (pl.col("system") == system) & pl.col("version_reported").is_not_null()
        )
        versions = ", ".join(sorted(stated["version_reported"].unique().to_list()))
        gone = program.get("unavailable")
        rows.append(
            [
                cell.title(run, system),
                str(declared.get(system, {}).get("version") or program.get("version") or MISSING),
                versions or "it never ran",
                "not to be had" if gone else str(program.get("source") or MISSING),
                str(gone or program.get("detail") or MISSING),
                Code(str(program.get("digest") or "")),
            ]
        )
    if not rows:
        return missing("The pins", "no trial is recorded")
    return Table(["System", "Pinned", "Stated by the system", "From", "How", "Digest"], rows)
