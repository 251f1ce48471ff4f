"""Fill the database from the folders of runs and trials: idempotent, one transaction a trial.

Many trials at once (a rebuild) share a transaction. When one of them turns out corrupt, the batch is
halved until that one is alone; it is said by name, left out, and left on disk as it is.
"""

# ruff: noqa: S608 - names of tables and columns come from record.tables; values are bound

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.record import folder, lines, operations, rows
from benchbook.record.ddl import quoted
from benchbook.record.folder import Say, tell
from benchbook.record.tables import OF_RUN, OF_TRIAL, Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BATCH_TRIALS = 1000
"""Trials in one transaction of a rebuild: enough to keep every core busy, little enough for memory."""


def trial(results: Path, trial_folder: Path, say: Say = tell) -> bool:
    """Enter one trial into the database, in place of what it held of it; False if it is corrupt.

    Raises RequestError where the database cannot be opened or written.
    """
    from benchbook.record import database

    with database.open(results, say=say) as connection:
        return trials(connection, [trial_folder], say) == 1


def run(results: Path, run_folder: Path, say: Say = tell) -> int:
    """Enter a run and all its trials, in place of what was held; return how many trials were whole.

    Raises RequestError where the database cannot be opened or written.
    """
    from benchbook.record import database, objects

    if remote := objects.of(results):
        return objects.push(remote, run_folder, folder.trial_folders(run_folder))
    with database.open(results, say=say) as connection:
        run_facts(connection, run_folder, say)
        return trials(connection, folder.trial_folders(run_folder), say)


def run_facts(connection: DuckDBPyConnection, run_folder: Path, say: Say) -> bool:
    """Enter the facts of a run through an open connection; False if they are corrupt."""
    try:
        found = [
            folder.read_object(path) if (path := run_folder / name).exists() else {}
            for name in (folder.RUN_FILE, folder.PLAN_FILE)
        ]
        made = rows.of_run(*found)
        run_id = made["runs"][0][0]
        if run_id != run_folder.name:
            raise ValueError(f'it is run "{run_id}"')
        tables = {name: rows.arrow(name, held) for name, held in made.items()}
    except (ValueError, OverflowError) as error:
        say(f"Left out: the run in {run_folder} has no whole facts: {error}.")
        return False
    connection.begin()
    try:
        _delete(connection, OF_RUN, [run_id])
        for name, table in tables.items():
            _append(connection, name, table)
        connection.commit()
    except BaseException:
        _rollback(connection)
        raise
    return True


def trials(connection: DuckDBPyConnection, folders: Sequence[Path], say: Say) -> int:
    """Enter trials through an open connection; return how many were whole."""
    entered = 0
    for batch in batched(folders, BATCH_TRIALS):
        whole = []
        for where in batch:
            try:
                whole.append((where, folder_trial(where)))
            except ValueError as error:
                say(f"Left out: {error}.")
        entered += _enter(connection, whole, say)
    return entered


def batched(folders: Sequence[Path], size: int) -> Iterator[Sequence[Path]]:
    """Yield the folders in groups of ``size``."""
    for start in range(0, len(folders), size):
        yield folders[start : start + size]


def folder_trial(where: Path) -> rows.Rows:
    """Read a trial folder's ``trial.json`` as rows; raise ValueError where it is corrupt."""
    from benchbook.record import trial as reading

    return rows.of_trial(reading.read(where))


def _enter(connection: DuckDBPyConnection, whole: Sequence[tuple[Path, rows.Rows]], say: Say) -> int:
    import duckdb

    if not whole:
        return 0
    connection.begin()
    try:
        _replace(connection, whole)
        connection.commit()
        return len(whole)
    except (duckdb.Error, ValueError) as error:
        _rollback(connection)
        if not _is_of_the_data(error, whole):
            raise
        if len(whole) == 1:
            why = str(error).splitlines()[0].rstrip(". ")
            say(f"Left out: the trial in {whole[0][0]} is corrupt: {why}.")
            return 0
    except BaseException:
        _rollback(connection)
        raise
    half = len(whole) // 2
    return _enter(connection, whole[:half], say) + _enter(connection, whole[half:], say)


def _rollback(connection: DuckDBPyConnection) -> None:
    """End a transaction, which a failed commit has already done."""
    import duckdb

    with contextlib.suppress(duckdb.TransactionException):
        connection.rollback()


def _is_of_the_data(error: Exception, whole: Sequence[tuple[Path, rows.Rows]]) -> bool:
    """Tell a corrupt trial from a failure of the database (a full disk), which is no trial's fault."""
    import duckdb

    data = (ValueError, duckdb.DataError, duckdb.IntegrityError, duckdb.InvalidInputException)
    if isinstance(error, data):
        return True
    return isinstance(error, duckdb.IOException) and any(f'"{where}' in str(error) for where, _ in whole)


def _replace(connection: DuckDBPyConnection, whole: Sequence[tuple[Path, rows.Rows]]) -> None:
    identities = [(made["trials"][0][0], where) for where, made in whole]
    _delete(connection, OF_TRIAL, [trial_id for trial_id, _ in identities])
    for name in whole[0][1]:
        _append(connection, name, rows.arrow(name, [row for _, made in whole for row in made[name]]))
    for source in lines.SOURCES:
        lines.insert(connection, source, identities)
    operations.insert(connection, identities)


def _delete(connection: DuckDBPyConnection, tables: Sequence[Table], owners: list[str]) -> None:
    """Delete what the tables hold of these trials or runs; the first table tells whether there is any."""
    import pyarrow as pa

    # Not as a parameter: for each entry of a list the binding looks for libraries that are not installed.
    connection.register("owners", pa.table({"owner": pa.array(owners, pa.string())}))
    try:
        of_these = f"{tables[0].owner} IN (SELECT owner FROM owners)"
        if connection.execute(f"SELECT 1 FROM {tables[0].name} WHERE {of_these} LIMIT 1").fetchone():
            for table in tables:
                connection.execute(
                    f"DELETE FROM {table.name} WHERE {table.owner} IN (SELECT owner FROM owners)"
                )
    finally:
        connection.unregister("owners")


def _append(connection: DuckDBPyConnection, table: str, content: Any) -> None:
    if content.num_rows == 0:
        return
    names = ", ".join(quoted(name) for name in content.column_names)
    connection.register("incoming", content)
    try:
        connection.execute(f"INSERT INTO {table} ({names}) SELECT * FROM incoming")
    finally:
        connection.unregister("incoming")
