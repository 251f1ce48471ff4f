"""The JSON Lines files of trials, read by DuckDB itself: many files in one statement, in parallel.

What a line may hold is docs/benchload-events.md; fields that no table keeps are passed over.
"""

# ruff: noqa: S608 - names of tables and columns come from record.tables; values are bound

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.record.ddl import literal, quoted
from benchbook.record.tables import BY_NAME

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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
        "query_type": "VARCHAR",
        "query_id": "VARCHAR",
        "digest": "VARCHAR",
        "row_count": "BIGINT",
        "columns": "JSON",
        "rows": "JSON",
    },
    {
        "answers": (
            (
                "query_type",
                "query_id",
                "digest",
                "coalesce(row_count, json_array_length(rows))",
                "columns",
                "rows",
            ),
            "true",
        )
    },
)

EVENTS = Source(
    "events.jsonl",
    {
        "event": "VARCHAR",
        "phase": "VARCHAR",
        "query_type": "VARCHAR",
        "kind": "VARCHAR",
        "start_s": "DOUBLE",
        "duration_s": "DOUBLE",
        "operations": "BIGINT",
        "rows": "BIGINT",
        "values": "BIGINT",
        "bytes": "BIGINT",
        "errors": "BIGINT",
        "warmup": "BOOLEAN",
        "count": "BIGINT",
        "histogram": "VARCHAR",
    },
    {
        "intervals": (
            (
                "phase",
                "query_type",
                "start_s",
                "duration_s",
                "operations",
                "rows",
                '"values"',
                "bytes",
                "errors",
                "coalesce(warmup, false)",
                "histogram",
            ),
            "event = 'interval'",
        ),
        "histograms": (
            (
                "phase",
                "query_type",
                "coalesce(kind, 'latency')",
                "coalesce(warmup, false)",
                '"count"',
                "histogram",
            ),
            "event = 'histogram'",
        ),
    },
)

SOURCES = (EVENTS, TELEMETRY, ANSWERS)


def insert(connection: DuckDBPyConnection, source: Source, trials: Sequence[tuple[str, Path]]) -> None:
    """Insert the lines of one file of many trials, given as (trial_id, folder); absent files hold none.

    Raises duckdb.Error that names the file where a line is not whole JSON or of a wrong type.
    """
    import pyarrow as pa

    files = {str(path): trial_id for trial_id, where in trials if (path := where / source.file).is_file()}
    if not files:
        return
    fields = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in source.fields.items())
    read = (
        f"read_json($patterns, format = 'newline_delimited', columns = {{{fields}}}, filename = 'of_file',"
        f" hive_partitioning = false, maximum_object_size = {LARGEST_LINE_BYTES})"
    )
    connection.register("trial_files", pa.table({"of_file": list(files), "trial_id": list(files.values())}))
    try:
        for table, (columns, condition) in source.inserts.items():
            names = ", ".join(quoted(column.name) for column in BY_NAME[table].columns)
            connection.execute(
                f"INSERT INTO {table} ({names}) SELECT trial_id, {', '.join(columns)}"
                f" FROM {read} JOIN trial_files USING (of_file) WHERE {condition}",
                {"patterns": [_escaped(path) for path in files]},
            )
    finally:
        connection.unregister("trial_files")


def _escaped(path: str) -> str:
    """Return a path as a pattern that matches it alone: DuckDB expands ``*``, ``?`` and ``[``."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in path)
