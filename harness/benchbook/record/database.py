"""The results database: opened only for the length of a commit, and filled from the run folders.

DuckDB's file may be deleted at any time. Whoever opens a file that is missing or unusable builds it again first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import RequestError, command
from benchbook.record import duckdb_file, folder, ingest, objects
from benchbook.record.duckdb_file import FILE, StillBusy, Unusable
from benchbook.record.folder import Say, tell
from benchbook.record.tables import TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@contextlib.contextmanager
def open(  # noqa: A001
    results: Path, read_only: bool = False, say: Say = tell, *, files: bool = False
) -> Iterator[DuckDBPyConnection]:
    """Open the results database for the length of a ``with`` block; make it if there is none.

    Queries of a read-only connection reach nothing but the tables, whatever a user, a page or a plug-in asks. With
    ``files`` they may also read and write files, which an export needs.

    Results on object storage are a database in memory that reads the objects in place.

    Raises RequestError if another process keeps the file open for more than a minute, if its schema is newer than
    this Benchbook, if the folder is full or cannot be written, and, for reading, if there are no results.
    """
    import duckdb

    remote = objects.of(results)
    with contextlib.ExitStack() as stack:
        if remote is not None:
            connection = remote.connection(results, files=files)
        elif read_only:
            connection = _to_read(results, say, files)
        else:
            stack.enter_context(duckdb_file.only_writer(results, say))
            connection = _to_write(results, say)
        stack.callback(connection.close)
        try:
            yield connection
        except duckdb.Error as error:
            if not duckdb_file.is_of_the_file(error):
                raise
            raise duckdb_file.failure(results / FILE, error) from error


def _to_read(results: Path, say: Say, files: bool) -> DuckDBPyConnection:
    file = results / FILE
    if not file.exists() and not folder.run_folders(results):
        raise RequestError(
            f"There are no results in {results} yet.",
            f"Run an experiment first ({command('run quickstart')}), or name another folder with --results DIR.",
        )
    try:
        return duckdb_file.usable(file, read_only=True, say=say, files=files)
    except Unusable:
        with duckdb_file.only_writer(results, say):
            _to_write(results, say).close()  # builds it again
    try:
        return duckdb_file.usable(file, read_only=True, say=say, files=files)
    except Unusable as why:
        raise duckdb_file.failure(file, why) from why


def _to_write(results: Path, say: Say) -> DuckDBPyConnection:
    """Return a connection to a usable file, built again from the folders if necessary."""
    file = results / FILE
    try:
        return duckdb_file.usable(file, read_only=False, say=say)
    except StillBusy as why:  # whoever may read the file can hold it; it goes on with the file that was
        say(f"{why.message} It is built again from the run folders.")
        _replace(results, say)
    except Unusable as why:
        if file.exists():
            kept = duckdb_file.move_aside(file)
            say(f"{file} {why}. It is kept as {kept.name} and built again from the run folders.")
        _replace(results, say)
    try:
        return duckdb_file.usable(file, read_only=False, say=say)
    except Unusable as why:
        raise duckdb_file.failure(file, why) from why


def enter(results: Path, run: Path, say: Say = tell) -> int:
    """Enter a run and all its trials in place of earlier rows; return how many trials were whole.

    Raises RequestError if the database cannot be opened or written.
    """
    if remote := objects.of(results):
        return objects.push(remote, run, folder.trial_folders(run))
    with open(results, say=say) as connection:
        return ingest.run(connection, run, say)


def catch_up(results: Path, say: Say = tell) -> int:
    """Enter every run and trial that has a folder but no row, as a killed run leaves them; return how many trials.

    Opens nothing for writing if all are entered, and nothing at all if there are no runs.
    """
    runs = folder.run_folders(results)
    if not runs:
        return 0
    with open(results, read_only=True, say=say) as connection:
        trials = _trial_ids(connection)
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
        return sum(objects.push(remote, run, missing[run]) for run in behind if not objects.is_elsewhere(run))
    with open(results, say=say) as connection:
        return sum(ingest.run(connection, run, say, missing[run]) for run in behind)


def run_ids(results: Path) -> set[str]:
    """Return the ids of the runs in a database that exists."""
    with open(results, read_only=True) as connection:
        return {str(row[0]) for row in connection.execute("SELECT run_id FROM runs").fetchall()}


def trial_ids(results: Path) -> set[str]:
    """Return the ids of all trials in a database that exists."""
    with open(results, read_only=True) as connection:
        return _trial_ids(connection)


def _trial_ids(connection: DuckDBPyConnection) -> set[str]:
    return {str(row[0]) for row in connection.execute("SELECT trial_id FROM trials").fetchall()}


def _finished(run: Path) -> bool | None:
    """Return whether a run has ended; None if its facts are corrupt, as for a run that was never entered."""
    path = run / folder.RUN_FILE
    try:
        return bool(path.exists() and folder.read_object(path).get("finished_at"))
    except ValueError:
        return None


def rebuild(results: Path, say: Say = tell, threads: int | None = None) -> dict[str, int]:
    """Build the database of a results folder again from its run folders; return table → rows.

    Replaces the old file only when the new one is whole. ``threads`` limits those of DuckDB: for small tables, several
    cost more than they save. Raises RequestError if the folder cannot be written or another process keeps the database
    open.
    """
    with duckdb_file.only_writer(results, say):
        file = results / FILE
        duckdb_file.require_no_link(file)
        with contextlib.suppress(Unusable, StillBusy):
            # Take DuckDB's lock once: whoever reads the old file may finish before it is replaced.
            if file.exists():
                duckdb_file.patiently(lambda: duckdb_file.connect(file, read_only=False), file, say).close()
        return _replace(results, say, threads)


def _replace(results: Path, say: Say, threads: int | None = None) -> dict[str, int]:
    """Build the file beside its place and rename it; the caller is the only writer of the folder."""
    import duckdb

    file = results / FILE
    fresh = file.with_name(f"{file.name}.new")
    _remove(fresh)
    try:
        connection = duckdb_file.make(fresh)
        try:
            connection.execute("SET checkpoint_threshold = '4GB'")  # one checkpoint at the end
            if threads is not None:
                connection.execute(f"SET threads = {threads:d}")
            ingest.runs(connection, folder.run_folders(results), say)
            found = {table.name: connection.table(table.name).count("*").fetchone() for table in TABLES}
            connection.execute("CHECKPOINT")  # closing does it too, but hides a failure
        finally:
            connection.close()
        fresh.rename(file)
        _remove_log(file)
    except OSError as error:
        raise folder.cannot_write(file, error) from error
    except duckdb.Error as error:
        if not duckdb_file.is_of_the_file(error):
            raise
        raise duckdb_file.failure(file, error) from error
    finally:
        _remove(fresh)
    return {name: int(row[0]) if row else 0 for name, row in found.items()}


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)
    _remove_log(file)


def _remove_log(file: Path) -> None:
    """Remove a write-ahead log, which must not be replayed into another file."""
    with contextlib.suppress(OSError):
        duckdb_file.write_ahead_log(file).unlink(missing_ok=True)
