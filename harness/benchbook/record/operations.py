"""Single operations of trials (``bench run --record-operations``), read by DuckDB from the clients' Parquet files.

A trial has one file for each phase and client: ``operations/<phase>.parquet``, and ``<phase>~<client>.parquet`` where
several clients loaded at once. A client that was killed leaves a file with another ending, which is passed over.
"""

# ruff: noqa: S608 - names of columns come from record.tables; paths are quoted

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.record.ddl import literal, quoted
from benchbook.record.lines import escaped
from benchbook.record.tables import BY_NAME

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FOLDER = "operations"
"""In a trial's folder."""
SUFFIX = ".parquet"
CLIENT = "~"
"""Between phase and number of the client; no phase has it in its name."""


def file(trial: Path, phase: str) -> Path:
    """Return the file for the operations of a phase."""
    return trial / FOLDER / f"{phase}{SUFFIX}"


def numbered(path: Path, client: int) -> Path:
    """Return the file of one of several clients, as ``benchload load --clients`` names them.

    >>> numbered(Path("operations/load.parquet"), 1).name
    'load~1.parquet'
    """
    return path.with_name(f"{path.stem}{CLIENT}{client}{SUFFIX}")


def insert(connection: DuckDBPyConnection, trials: Sequence[tuple[str, Path]]) -> None:
    """Insert the operations of many trials, given as (trial_id, folder); most have none.

    Raises duckdb.Error or ValueError where a file is damaged.
    """
    import duckdb
    import pyarrow as pa

    found: dict[str, tuple[str, str, int]] = {}
    for trial_id, where in trials:
        folder = where / FOLDER
        if folder.is_dir():
            for path in sorted(folder.glob(f"*{SUFFIX}")):
                phase, _, client = path.stem.partition(CLIENT)
                found[str(path)] = (trial_id, phase, int(client) if client.isdecimal() else 0)
    if not found:
        return
    trial_ids, phases, clients = (list(column) for column in zip(*found.values(), strict=True))
    patterns = ", ".join(literal(escaped(path)) for path in found)
    files = {"of_file": list(found), "trial_id": trial_ids, "phase": phases, "client": clients}
    connection.register("operation_files", pa.table(files))
    names = ", ".join(quoted(column.name) for column in BY_NAME["operations"].columns)
    try:
        connection.execute(
            f"INSERT INTO operations ({names}) SELECT trial_id, phase, operation, client, worker, intended_ns,"
            f" start_ns, end_ns, \"rows\", status, operation = 'warmup' FROM read_parquet([{patterns}],"
            " filename = 'of_file', hive_partitioning = false) JOIN operation_files USING (of_file)"
        )
    except duckdb.Error as error:
        known = (duckdb.BinderException, duckdb.CatalogException, duckdb.ConversionException)
        # Its reader of Parquet throws errors of no class of their own where a footer is damaged.
        if not isinstance(error, known) and type(error) is not duckdb.Error:
            raise
        first = str(error).splitlines()[0].rstrip(". ")
        raise ValueError(f"its single operations are not what a client writes: {first}") from error
    finally:
        connection.unregister("operation_files")
