"""Bring the database up to date with the run folders, or build it again from them."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.record import database, folder, ingest, objects
from benchbook.record.folder import Say, tell
from benchbook.record.tables import TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# Brings the database up to the folders: enters what a killed harness left unentered.


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


# Make the results database anew from the run folders.


def rebuild(results: Path, say: Say = tell) -> dict[str, int]:
    """Make the database of a results folder anew from its run folders; return table → rows.

    The old file is replaced only when the new one is whole. Raises RequestError where the folder
    cannot be written or another process keeps the database open.
    """
    with database.writer(results, say):
        file = results / database.FILE
        with contextlib.suppress(database.Unusable):
            # Take DuckDB's lock once: whoever reads the old file may finish before it is replaced.
            if file.exists():
                database.patiently(lambda: database.connect(file, read_only=False), file, say).close()
        return replace(results, say)


def replace(results: Path, say: Say) -> dict[str, int]:
    """Build the file beside its place and rename it; the caller is the only writer of the folder."""
    import duckdb

    file = results / database.FILE
    fresh = file.with_name(f"{file.name}.new")
    _remove(fresh)
    try:
        connection = database.make(fresh)
        try:
            connection.execute("SET checkpoint_threshold = '4GB'")  # once at the end, not now and then
            counts = _fill(connection, results, say)
            connection.execute("CHECKPOINT")  # closing does it too, but without a word where it fails
        finally:
            connection.close()
        fresh.rename(file)
        _remove_log(file)
    except OSError as error:
        raise folder.cannot_write(file, error) from error
    except duckdb.Error as error:
        if not database.is_of_the_file(error):
            raise
        raise database.failure(file, error) from error
    finally:
        _remove(fresh)
    return counts


def _fill(connection: DuckDBPyConnection, results: Path, say: Say) -> dict[str, int]:
    runs = folder.run_folders(results)
    for run in runs:
        ingest.run_facts(connection, run, say)
    ingest.trials(connection, [trial for run in runs for trial in folder.trial_folders(run)], say)
    found = {table.name: connection.table(table.name).count("*").fetchone() for table in TABLES}
    return {name: int(row[0]) if row else 0 for name, row in found.items()}


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)
    _remove_log(file)


def _remove_log(file: Path) -> None:
    """Remove a write-ahead log, which must not be replayed into another file."""
    with contextlib.suppress(OSError):
        file.with_name(f"{file.name}.wal").unlink(missing_ok=True)
