"""Pins: which program each system was, where it came from, and the version that it stated itself."""

from __future__ import annotations

import polars as pl

from benchbook.plan.factors import FROM, SOURCE
from benchbook.report import cell
from benchbook.report.quantity import MISSING
from benchbook.report.results import Run
from benchbook.report.table import Code, Table
from benchbook.report.words import Words, missing


def table(run: Run) -> Table | Words:
    """Return one row a system of the run, found or not; one a source where that is a factor."""
    programs = run.facts("programs")
    declared = cell.systems(run)
    rows: list[list[str | Code]] = []
    for system, source in _used(run):
        program = programs.get(f"{system}{FROM}{source}" if source else system) or {}
        gone = program.get("unavailable")
        versions = ", ".join(_stated(run, system, source))
        rows.append(
            [
                cell.title(run, system),
                str(declared.get(system, {}).get("version") or program.get("version") or MISSING),
                versions or "it never ran",
                f"{source}: not to be had"
                if gone and source
                else "not to be had"
                if gone
                else str(program.get("source") or MISSING),
                str(gone or program.get("detail") or MISSING),
                Code(str(program.get("digest") or "")),
            ]
        )
    if not rows:
        return missing("The pins", "no trial is recorded")
    return Table(["System", "Pinned", "Stated by the system", "From", "How", "Digest"], rows)


def _sources(run: Run) -> dict[str, str]:
    """Return the source of each trial's program, where that is a factor: trial → source."""
    levels = run.frame("levels").filter(pl.col("factor") == SOURCE)
    return dict(levels.select("trial_id", "level").iter_rows())


def _used(run: Run) -> list[tuple[str, str | None]]:
    """Return the systems of the run in their order, with each source."""
    sources = _sources(run)
    pairs = dict.fromkeys(
        (system, sources.get(trial))
        for trial, system in run.frame("trials").select("trial_id", "system").iter_rows()
    )
    order = list(dict.fromkeys(one.system for one in cell.cells(run)))
    return sorted(pairs, key=lambda pair: (order.index(pair[0]), pair[1] or ""))


def _stated(run: Run, system: str, source: str | None) -> list[str]:
    """Return the versions that a system stated in its trials."""
    sources = _sources(run)
    trials = run.frame("trials").select("trial_id", "system", "version_reported").iter_rows()
    return sorted(
        {
            version
            for trial, name, version in trials
            if version and (name, sources.get(trial)) == (system, source)
        }
    )
