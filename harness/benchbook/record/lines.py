"""Read the JSON Lines and Parquet files of many trials with DuckDB: many files in one statement, in parallel.

docs/benchload-events.md describes the lines. Fields that no table keeps are ignored.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.declare.sql_text import literal, quoted
from benchbook.host import guarded
from benchbook.record.tables import BY_NAME

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# ruff: noqa: S608 - names of tables and columns come from record.tables; values are bound

LARGEST_LINE_BYTES = 256 * 1024 * 1024
"""A line larger than this (an answer of millions of rows) makes its trial unreadable."""

OPERATIONS_FOLDER = "operations"
"""In a trial's folder: single operations (``bench run --record-operations``), one file for each phase and client."""
OPERATIONS_SUFFIX = ".parquet"
"""A killed client leaves a file with another ending, which is ignored."""
CLIENT = "~"
"""Separates the phase from the number of the client; no phase has it in its name."""


@dataclass(frozen=True)
class JsonLines:
    """One file of a trial. ``fields``: field → type; ``inserts``: table → (its columns' SQL, condition)."""

    file: str
    fields: dict[str, str]
    inserts: dict[str, tuple[tuple[str, ...], str]]


TELEMETRY = JsonLines(
    "telemetry.jsonl",
    {
        "phase": "VARCHAR",
        "seconds": "DOUBLE",
        "scope": "VARCHAR",
        "metric": "VARCHAR",
        "value": "DOUBLE",
        "unit": "VARCHAR",
    },
    {"telemetry": (("phase", "seconds", "scope", "metric", "value", "unit"), "true")},
)

ANSWERS = JsonLines(
    "answers.jsonl",
    {
        "type": "VARCHAR",
        "query_type": "VARCHAR",
        "id": "VARCHAR",
        "columns": "JSON",
        "rows": "JSON",
    },
    {
        "answers": (
            (
                "query_type",
                "id",
                "'sha256:' || sha256(columns::VARCHAR || chr(10) || \"rows\"::VARCHAR)",
                'json_array_length("rows")',
                "columns",
                '"rows"',
            ),
            "type = 'answer'",
        )
    },
)

_KIND = (
    "CASE WHEN kind = 'response' OR NOT bool_or(kind = 'response') OVER (PARTITION BY trial_id, phase, operation)"
    " THEN 'latency' ELSE kind END"
)
"""Latency is the response time (from the intended start) where a loop has one, else the service time."""

EVENTS = JsonLines(
    "events.jsonl",
    {
        "type": "VARCHAR",
        "phase": "VARCHAR",
        "client": "BIGINT",
        "operation": "VARCHAR",
        "kind": "VARCHAR",
        "start_ns": "BIGINT",
        "duration_ns": "BIGINT",
        "operations": "BIGINT",
        "rows": "BIGINT",
        "values": "BIGINT",
        "bytes": "BIGINT",
        "errors": "BIGINT",
        "histogram": "VARCHAR",
        "count": "BIGINT",
        "encoded": "VARCHAR",
    },
    {
        "intervals": (
            (
                "phase",
                "operation",
                "start_ns / 1e9",
                "duration_ns / 1e9",
                "operations",
                '"rows"',
                '"values"',
                "bytes",
                "errors",
                "operation IS NOT DISTINCT FROM 'warmup'",
                "nullif(histogram, '')",
            ),
            "type = 'interval'",
        ),
        "client_intervals": (
            (
                "phase",
                "client",
                "operation",
                "start_ns / 1e9",
                "duration_ns / 1e9",
                "operations",
                '"rows"',
                "errors",
                "nullif(histogram, '')",
            ),
            "type = 'client-interval'",
        ),
        "histograms": (
            ("phase", "operation", _KIND, "operation IS NOT DISTINCT FROM 'warmup'", '"count"', "encoded"),
            "type = 'histogram'",
        ),
    },
)

SOURCES = (EVENTS, TELEMETRY, ANSWERS)


def insert(connection: DuckDBPyConnection, source: JsonLines, trials: Sequence[tuple[str, Path]]) -> None:
    """Insert the lines of one file of many trials, given as (trial_id, folder); a trial may lack the file.

    Raises duckdb.Error or ValueError that names the file if a line is not whole JSON or is of a wrong type.
    """
    import pyarrow as pa

    files = {str(path): trial_id for trial_id, where in trials if _holds_lines(path := where / source.file)}
    if not files:
        return
    # Not as a parameter: for each entry of a list, the binding searches for libraries that are not installed.
    patterns = ", ".join(literal(escaped(path)) for path in files)
    fields = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in source.fields.items())
    read = (
        f"read_json([{patterns}], format = 'newline_delimited', columns = {{{fields}}}, filename = 'of_file',"
        f" hive_partitioning = false, maximum_object_size = {LARGEST_LINE_BYTES})"
    )
    connection.register("trial_files", pa.table({"of_file": list(files), "trial_id": list(files.values())}))
    lines = f"SELECT * FROM {read} JOIN trial_files USING (of_file)"
    try:
        if len(source.inserts) > 1:  # read once, insert into several tables
            connection.execute(f"CREATE OR REPLACE TEMP TABLE trial_lines AS {lines}")
            lines = "SELECT * FROM trial_lines"
        for table, (columns, condition) in source.inserts.items():
            names = ", ".join(quoted(column.name) for column in BY_NAME[table].columns)
            connection.execute(
                f"INSERT INTO {table} ({names}) SELECT trial_id, {', '.join(columns)} FROM ({lines}) WHERE {condition}"
            )
    finally:
        connection.unregister("trial_files")


def _holds_lines(path: Path) -> bool:
    """Say whether a file has content; raise ValueError for a file that DuckDB would silently skip."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return False
    if size == 1:  # DuckDB treats a file of one byte as empty
        raise ValueError(f"{path} holds a single byte")
    return size > 0


def escaped(path: str) -> str:
    """Return a pattern that matches one path only: DuckDB expands ``*``, ``?`` and ``[``."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in path)


@contextlib.contextmanager
def damage_as_value_error(what: str) -> Iterator[None]:
    """Turn DuckDB's errors about the content of a Parquet file into a ValueError that begins with ``what``."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        known = (duckdb.BinderException, duckdb.CatalogException, duckdb.ConversionException)
        # DuckDB throws its base class where the footer of a file is damaged.
        if not isinstance(error, known) and type(error) is not duckdb.Error:
            raise
        raise ValueError(f"{what}: {str(error).splitlines()[0].rstrip('. ')}") from error


def operations_file(trial: Path, phase: str) -> Path:
    """Return the file for the single operations of a phase."""
    return trial / OPERATIONS_FOLDER / f"{phase}{OPERATIONS_SUFFIX}"


def numbered(path: Path, client: int) -> Path:
    """Return the file of one of several clients.

    >>> numbered(Path("operations/load.parquet"), 1).name
    'load~1.parquet'
    """
    return path.with_name(f"{path.stem}{CLIENT}{client}{OPERATIONS_SUFFIX}")


def insert_operations(connection: DuckDBPyConnection, trials: Sequence[tuple[str, Path]]) -> None:
    """Insert the single operations of many trials, given as (trial_id, folder); most have none.

    Raises duckdb.Error or ValueError if a file is damaged.
    """
    import pyarrow as pa

    found: dict[str, tuple[str, str, int]] = {}
    for trial_id, where in trials:
        folder = where / OPERATIONS_FOLDER
        for path in sorted(folder.glob(f"*{OPERATIONS_SUFFIX}")) if folder.is_dir() else ():
            if what := guarded.irregular(path):
                raise ValueError(f"{path} is {what}, not a file")
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
        with damage_as_value_error("its single operations are not what a client writes"):
            connection.execute(
                f"INSERT INTO operations ({names}) SELECT trial_id, phase, operation, client, worker, intended_ns,"
                f" start_ns, end_ns, \"rows\", status, operation = 'warmup' FROM read_parquet([{patterns}],"
                " filename = 'of_file', hive_partitioning = false) JOIN operation_files USING (of_file)"
            )
    finally:
        connection.unregister("operation_files")
