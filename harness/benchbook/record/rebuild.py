"""Make the results database anew from the run folders."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.record import database, folder, ingest, lock
from benchbook.record.folder import Say, tell
from benchbook.record.tables import TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def rebuild(results: Path, say: Say = tell) -> dict[str, int]:
    """Make the database of a results folder anew from its run folders; return table → rows.

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
