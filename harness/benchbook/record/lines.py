"""Read the JSON Lines and Parquet files of many trials with DuckDB, in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.record.tables import BY_NAME, literal, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# The JSON Lines files of trials, read by DuckDB itself: many files in one statement, in parallel.
#
# What a line may hold is docs/benchload-events.md; fields that no table keeps are passed over.

# ruff: noqa: S608 - names of tables and columns come from record.tables; values are bound


LARGEST_LINE_BYTES = 256 * 1024 * 1024
"""A line larger than this (an answer of millions of rows) makes its trial unreadable."""


@dataclass(frozen=True)
class Source:
    """One file of a trial. ``fields``: field → type; ``inserts``: table → (its columns' SQL, condition)."""

    file: str
    fields: dict[str, str]
    inserts: dict[str, tuple[tuple[str, ...], str]]


TELEMETRY = Source(
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

ANSWERS = Source(
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

EVENTS = Source(
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


def insert(connection: DuckDBPyConnection, source: Source, trials: Sequence[tuple[str, Path]]) -> None:
    """Insert the lines of one file of many trials, given as (trial_id, folder); absent files hold none.

    Raises duckdb.Error or ValueError that names the file where a line is not whole JSON or of a wrong type.
    """
    import pyarrow as pa

    files = {str(path): trial_id for trial_id, where in trials if _holds_lines(path := where / source.file)}
    if not files:
        return
    # Not as a parameter: for each entry of a list the binding looks for libraries that are not installed.
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
    """Say whether there is anything in a file; raise ValueError for one that DuckDB would not look into."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return False
    if size == 1:  # DuckDB takes a single byte for an empty file, whatever it is
        raise ValueError(f"{path} holds a single byte")
    return size > 0


def escaped(path: str) -> str:
    """Return a path as a pattern that matches it alone: DuckDB expands ``*``, ``?`` and ``[``."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in path)


# Single operations of trials (``bench run --record-operations``), read by DuckDB from the clients' Parquet files.
#
# A trial has one file for each phase and client: ``operations/<phase>.parquet``, and ``<phase>~<client>.parquet`` where
# several clients loaded at once. A client that was killed leaves a file with another ending, which is passed over.

# ruff: noqa: S608 - names of columns come from record.tables; paths are quoted


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


def insert_operations(connection: DuckDBPyConnection, trials: Sequence[tuple[str, Path]]) -> None:
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
