"""Brings the database up to the folders: enters what a killed harness left unentered."""

from __future__ import annotations

from pathlib import Path


def catch_up(results: Path) -> int:
    """Enter every run and trial that has a folder but no row; return how many trials were entered.

    Does nothing, and opens nothing for writing, where all are there.
    """
    from benchbook.record import database, folder, ingest

    runs = sorted(path for path in (results / "runs").glob("*") if path.is_dir())
    if not runs:
        return 0
    known: set[str] = set()
    known_runs: dict[str, bool] = {}
    if (results / database.FILE).exists():
        with database.open(results, read_only=True) as connection:
            known = {row[0] for row in connection.execute("select trial_id from trials").fetchall()}
            rows = connection.execute("select run_id, finished_at is not null from runs").fetchall()
            known_runs = {row[0]: bool(row[1]) for row in rows}
    entered = 0
    for run in runs:
        new = [one for one in folder.trial_folders(run) if f"{run.name}/{one.name}" not in known]
        for one in new:
            entered += ingest.trial(results, one)
        if new or not known_runs.get(run.name, False):
            ingest.run(results, run)
    return entered
