"""Brings the database up to the folders: enters what a killed harness left unentered."""

from __future__ import annotations

from pathlib import Path

from benchbook.record import database, folder, ingest, objects
from benchbook.record.folder import Say, tell


def catch_up(results: Path, say: Say = tell) -> int:
    """Enter every run and trial that has a folder but no row; return how many trials were entered.

    Opens nothing for writing where all are there, and nothing at all where there are no runs.
    """
    runs = folder.run_folders(results)
    if not runs:
        return 0
    with database.open(results, read_only=True, say=say) as connection:
        trials = {str(row[0]) for row in connection.execute("SELECT trial_id FROM trials").fetchall()}
        stated = "SELECT run_id, finished_at IS NOT NULL FROM runs"
        entered = {str(row[0]): bool(row[1]) for row in connection.execute(stated).fetchall()}
    missing = {
        run: [
            run / folder.TRIALS_FOLDER / name
            for name in folder.trial_names(run)
            if f"{run.name}/{name}" not in trials
        ]
        for run in runs
    }
    behind = [run for run in runs if missing[run] or entered.get(run.name) is not _finished(run)]
    if not behind:
        return 0
    if remote := objects.of(results):
        return sum(objects.push(remote, run, missing[run]) for run in behind if not _elsewhere(run))
    with database.open(results, say=say) as connection:
        for run in behind:
            ingest.run_facts(connection, run, say)
        return sum(ingest.trials(connection, missing[run], say) for run in behind)


def _elsewhere(run: Path) -> bool:
    return (run / objects.ELSEWHERE).exists()


def _finished(run: Path) -> bool | None:
    """Say whether a run states its end; None, as for a run that was never entered, where it is corrupt."""
    path = run / folder.RUN_FILE
    try:
        return bool(path.exists() and folder.read_object(path).get("finished_at"))
    except ValueError:
        return None
