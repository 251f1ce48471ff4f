"""docs/results.md: the results folder and every table and column, made from their declarations.

``python -m benchbook.record.page`` writes the page; a test says when it is out of date.
"""

from __future__ import annotations

from pathlib import Path

from benchbook.record.database import FILE, STORAGE_VERSION
from benchbook.record.tables import SCHEMA_VERSION, TABLES, Table

PAGE = Path(__file__).resolve().parents[3] / "docs" / "results.md"

# ruff: noqa: S608 - the page shows SQL, it runs none
_FOLDER = f"""# The results folder and its tables

This page is made from `harness/benchbook/record/tables.py`: `../.bench/venv/bin/python -m benchbook.record.page`
in `harness/`.

## The folder

Every command that reads or writes results takes `--results DIR` (default `./results`, also `BENCHBOOK_RESULTS`).

    results/
      {FILE}              filled from the run folders; may be deleted at any time
      runs/<run_id>/plan.json       every trial of the run in its order; written before anything starts
      runs/<run_id>/run.json        provenance, host, controls, dataset, programs, calibration
      runs/<run_id>/declared/       the TOML files as they were
      runs/<run_id>/queries/        the query sets, one file a type; their sha256 is in run.json
      runs/<run_id>/report.html
      runs/<run_id>/trials/<NNNN>/
        trial.json                  status, phases, measurements, errors, checks; written last
        events.jsonl                what the clients reported: intervals and histograms
        telemetry.jsonl             samples of processor, memory, disk and pressure
        answers.jsonl               answers to queries, to compare systems
        operations/<phase>.parquet  every single operation, with `./bench run --record-operations`
        config/ logs/               the system's configuration files and its own output
      datasets/                     digests of datasets that were computed before
      processes/                    the servers that run now, to end those that a killed harness left

A `run_id` is `<experiment>-<YYYYMMDDTHHMMSS>-<4 hex>`, a `trial_id` is `<run_id>/<NNNN>`, and `NNNN` is the
place of the trial in the order of the whole run.

The folders are the truth. A trial exists if its `trial.json` does: that file is written beside its place
and renamed into it after everything else is on disk, so a crash at any moment loses at most the trial in
flight. A file that is corrupt is named, left out of the tables, and left as it is.

## The database

`{FILE}` is a DuckDB file of storage format {STORAGE_VERSION} with tables of version {SCHEMA_VERSION}. It is opened
only for the length of a commit. `./bench rebuild` makes it anew from the folders; the same happens by
itself, and is said, where it is missing, corrupt, or of another storage format or an older version of the
tables (the old file is kept beside it as `{FILE}.aside-<time>`). A file with a newer version of the tables is
refused: update Benchbook. One process writes at a time; others wait up to 60 s.

Ask it with `./bench sql "SELECT system, count(*) FROM trials GROUP BY 1"`; inside it,
`FROM duckdb_columns() SELECT table_name, column_name, comment` gives what follows. `./bench export` writes one
run as a folder that opens without Benchbook and that `./bench import` reads back ([publishing](publishing.md)).

The rate of each system with every trial as a row:

    SELECT system, block, value FROM measurements JOIN trials USING (trial_id)
    WHERE phase = 'load' AND metric = 'rows_per_second' AND status = 'ok' ORDER BY ALL

A percentile of single operations, where a run was asked to keep them (`./bench run X --record-operations`, about 40
bytes an operation in the folder, less in the database):

    SELECT trial_id, quantile_cont(end_ns - intended_ns, 0.99) / 1e9 AS seconds FROM operations
    WHERE phase = 'groupby' AND operations.status = 'ok' AND NOT warmup GROUP BY ALL

The files can be read in place too: `SELECT * FROM 'results/runs/*/trials/*/operations/*.parquet'`.

A fact of the host:

    SELECT run_id, value ->> '$.model' FROM run_facts WHERE topic = 'host' AND key = 'cpu'

Times are UTC; durations are seconds, sizes bytes. Columns marked * are never NULL.

## The tables
"""


def text() -> str:
    """Return the page."""
    return _FOLDER + "".join(_section(table) for table in TABLES)


def _section(table: Table) -> str:
    rows = "".join(
        f"| `{column.name}`{' *' if column.required else ''} | {column.type} | {_cell(column.comment)} |\n"
        for column in table.columns
    )
    return f"\n### {table.name}\n\n{table.comment}\n\n| column | type | meaning |\n|---|---|---|\n{rows}"


def _cell(comment: str) -> str:
    return comment.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
