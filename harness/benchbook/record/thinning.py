"""Thin the tables of a run to a size that a repository can hold, without losing what charts and verdicts need.

Every measurement, histogram of a phase, check and answer stays. Samples of telemetry and intervals are thinned to what
a chart can show; histograms of neighbouring intervals are merged, which loses no operation. Single operations, samples
that no chart draws, and the histograms of each client alone are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.declare.sql_text import literal
from benchbook.errors import RequestError, command
from benchbook.record import database
from benchbook.record.tables import BATCH_ROWS, TABLES, Table

if TYPE_CHECKING:
    import polars as pl
    from duckdb import DuckDBPyConnection

# ruff: noqa: S608 - names of tables and columns are our own, values are quoted

Drawn = Iterable[tuple[str, str]]
"""The telemetry that charts draw: pairs of scope and metric."""

LARGEST_BYTES = 2_000_000
"""Bytes of a published run: the repository carries them forever."""
TABLES_SHARE = 0.95
"""Share of LARGEST_BYTES for the tables; the rest is for JSON and declarations."""
SAMPLES = 60
"""Samples kept of one series of telemetry of a trial."""
FEWEST = 8
"""Samples and intervals below which a run that is still too large is refused."""


def whole(results: Path, run_id: str, output: Path) -> dict[str, int]:
    """Write every table's rows of a run as Parquet; return table → rows."""
    with database.open(results, read_only=True, files=True) as connection:
        return {table.name: parquet(connection, rows_of(table, run_id), output, table) for table in TABLES}


def fitting(results: Path, run_id: str, output: Path, drawn: Drawn) -> dict[str, Any]:
    """Write thinned tables, with fewer samples and intervals until they fit; return what was kept.

    A run of very many trials keeps the histograms of its phases only, not those of single intervals.
    Raises RequestError if they stay too large.
    """
    kept = SAMPLES
    histograms = True
    while True:
        rows = _thinned(results, run_id, output, sorted(set(drawn)), kept, histograms=histograms)
        sizes = {path.stem: path.stat().st_size for path in output.iterdir()}
        if sum(sizes.values()) <= LARGEST_BYTES * TABLES_SHARE:
            return {
                "rows": rows, "samples_a_series": kept, "intervals_a_phase": kept,
                "histograms_of_intervals": histograms,
            }  # fmt: skip
        if kept > FEWEST:
            kept //= 2
        elif histograms:
            kept, histograms = SAMPLES, False
        else:
            worst = sorted(sizes.items(), key=lambda one: -one[1])[:3]
            shown = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in worst)
            raise RequestError(
                f"Run {run_id} is too large to be published: {sum(sizes.values()) / 1e6:.1f} MB, and"
                f" {LARGEST_BYTES / 1e6:.0f} MB are allowed. The largest tables are {shown}.",
                f"Publish a run of a smaller profile or of fewer cells. To share it whole, use `{command('export')}`.",
            )


def _thinned(
    results: Path, run_id: str, output: Path, drawn: Drawn, kept: int, *, histograms: bool
) -> dict[str, int]:
    rows = {}
    with database.open(results, read_only=True, files=True) as connection:
        for table in TABLES:
            chosen = rows_of(table, run_id)
            if table.name == "operations":
                chosen = "SELECT * FROM operations WHERE false"
            elif table.name == "telemetry":
                chosen = telemetry(chosen, drawn, kept)
            elif table.name == "client_intervals":
                chosen = f"SELECT * REPLACE (NULL AS histogram) FROM ({chosen})"
            elif table.name == "intervals":
                connection.register(
                    "merged_intervals", merged(connection.execute(chosen).pl(BATCH_ROWS), kept)
                )
                left_out = "" if histograms else " REPLACE (NULL AS histogram)"
                chosen = f"SELECT *{left_out} FROM merged_intervals"
            rows[table.name] = parquet(connection, chosen, output, table)
    return rows


def rows_of(table: Table, run_id: str) -> str:
    """Return the SELECT statement for the rows of one run in a table."""
    columns = {column.name for column in table.columns}
    condition = "true"
    if "run_id" in columns:
        condition = f"run_id = {literal(run_id)}"
    elif "trial_id" in columns:
        condition = f"trial_id IN (SELECT trial_id FROM trials WHERE run_id = {literal(run_id)})"
    return f"SELECT * FROM {table.name} WHERE {condition}"


def parquet(connection: DuckDBPyConnection, select: str, output: Path, table: Table) -> int:
    """Write rows as the Parquet file of a table, ordered so that the same rows give the same bytes; return how many.

    A dictionary stores long texts once: all trials of a system give the same answers.
    """
    path = output / f"{table.name}.parquet"
    written = connection.execute(
        f"COPY (SELECT * FROM ({select}) ORDER BY ALL) TO {literal(str(path))} (FORMAT parquet,"
        " COMPRESSION zstd, COMPRESSION_LEVEL 9, DICTIONARY_SIZE_LIMIT 100000,"
        " STRING_DICTIONARY_PAGE_SIZE_LIMIT 67108864)"
    ).fetchone()
    return int(written[0]) if written else 0


def telemetry(chosen: str, drawn: Drawn, samples: int) -> str:
    """Return the SQL that keeps the samples which charts draw, at most about ``samples`` of a series."""
    pairs = ", ".join(f"({literal(scope)}, {literal(metric)})" for scope, metric in drawn)
    series = "PARTITION BY trial_id, scope, metric"
    return (
        f"SELECT * FROM ({chosen}) WHERE (scope, metric) IN ({pairs})"
        f" QUALIFY (row_number() OVER ({series} ORDER BY seconds, phase) - 1)"
        f" % greatest(1, ceil(count(*) OVER ({series}) / {samples}.0)::BIGINT) = 0"
    )


def merged(rows: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return intervals with neighbours merged, so that a phase of a trial keeps at most ``most`` of a kind.

    Durations and counts add up, and histograms are merged without loss.
    """
    import polars as pl

    from benchbook.measure import histogram

    keys = ["trial_id", "phase", "operation", "warmup"]
    counts = ["duration_seconds", "operations", "rows", "values", "bytes", "errors"]
    made: list[dict[str, Any]] = []
    ordered = rows.sort(*keys, "started_seconds", maintain_order=True)
    for group in ordered.partition_by(keys, maintain_order=True):
        held = group.to_dicts()
        step = -(-len(held) // most)
        for start in range(0, len(held), step):
            part = held[start : start + step]
            encoded = [one["histogram"] for one in part if one["histogram"]]
            together = dict(part[0])
            if len(part) > 1:
                together |= {name: _sum(one[name] for one in part) for name in counts}
                together["histogram"] = histogram.merge(encoded).encode() if encoded else None
            made.append(together)
    return pl.DataFrame(made, schema=rows.schema) if made else rows


def _sum(values: Iterable[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
