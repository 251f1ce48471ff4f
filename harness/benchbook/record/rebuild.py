"""Make the results database anew from the run folders."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.record import database, folder, ingest, lock
from benchbook.record.folder import Say, tell

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class Counts:
    """What a rebuild entered, and what it left out because it is corrupt."""

    runs: int
    trials: int
    left_out: int


def rebuild(results: Path, say: Say = tell) -> Counts:
    """Make the database of a results folder anew from its run folders; return what was entered.

    The old file is replaced only when the new one is whole. Raises RequestError where the folder
    cannot be written or another process keeps the database open.
    """
    with lock.writer(results, say):
        file = results / database.FILE
        with contextlib.suppress(database.Unusable):
            # Take DuckDB's lock once: whoever reads the old file may finish before it is replaced.
            if file.exists():
                lock.patiently(lambda: database.connect(file, read_only=False), file, say).close()
        return replace(results, say)


def replace(results: Path, say: Say) -> Counts:
    """Build the file beside its place and rename it; the caller is the only writer of the folder."""
    import duckdb

    file = results / database.FILE
    fresh = file.with_name(f"{file.name}.new")
    _remove(fresh)
    try:
        connection = database.make(fresh)
        try:
            counts = _fill(connection, results, say)
        finally:
            connection.close()
        fresh.rename(file)
        _remove_log(file)
    except OSError as error:
        raise folder.cannot_write(file, error) from error
    except (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.FatalException) as error:
        raise database.failure(file, error) from error
    finally:
        _remove(fresh)
    return counts


def _fill(connection: DuckDBPyConnection, results: Path, say: Say) -> Counts:
    runs = entered = left_out = 0
    for run in folder.run_folders(results):
        whole = ingest.run_facts(connection, run, say)
        runs += whole
        left_out += not whole
        folders = iter(folder.trial_folders(run))
        while batch := list(islice(folders, ingest.BATCH_TRIALS)):
            kept = ingest.trials(connection, batch, say)
            entered += kept
            left_out += len(batch) - kept
    return Counts(runs, entered, left_out)


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)
    _remove_log(file)


def _remove_log(file: Path) -> None:
    """Remove a write-ahead log, which must not be replayed into another file."""
    with contextlib.suppress(OSError):
        file.with_name(f"{file.name}.wal").unlink(missing_ok=True)
