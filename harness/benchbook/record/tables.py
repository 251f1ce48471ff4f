"""Tables and columns of the results database: the one place where they are declared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


# Batches of rows as Arrow has them: how many rows one has, and the types of a table's columns.
#
# What only reads results needs these and not the models of trials, whose import takes longer than most reading.

BATCH_ROWS = 16_384
"""Rows of an Arrow batch, for every reading call.

DuckDB allocates a whole batch of each column and keeps it, however few rows there are; with its default of a
million rows a report's few hundred frames hold so much address space that the process cannot fork.
"""


def arrow_types(table: Table) -> dict[str, pa.DataType]:
    """Return the Arrow type that each column of a table declares, in their order."""
    import pyarrow as pa

    types = {
        "VARCHAR": pa.string(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "TIMESTAMP": pa.timestamp("us"),
    }
    return {column.name: types[column.type] for column in table.columns}


# The tables of the results database: the one place where tables and columns are declared.
#
# The DDL, the comments inside the database and docs/results.md are generated from here. A change of a
# column's name, type or meaning is a new ``SCHEMA_VERSION``: files of an older one are rebuilt from the
# folders when they are met.

SCHEMA_VERSION = 5
"""Version of the tables below, kept in table ``schema_version``."""


@dataclass(frozen=True)
class Column:
    """One column. ``comment`` states unit and meaning; a required one is never NULL."""

    name: str
    type: str
    comment: str
    required: bool = False


@dataclass(frozen=True)
class Table:
    """One table. ``owner`` is the column whose value says which trial or run a row belongs to."""

    name: str
    comment: str
    owner: str
    columns: tuple[Column, ...]


def _column(name: str, type_: str, comment: str) -> Column:
    """Read a type with a trailing ``!`` as required."""
    return Column(name, type_.rstrip("!"), comment, type_.endswith("!"))


def _tables_table(name: str, owner: str, comment: str, *columns: tuple[str, str, str]) -> Table:
    return Table(name, comment, owner, tuple(_column(*column) for column in columns))


_TRIAL = ("trial_id", "VARCHAR!", "Trial the row belongs to: <run_id>/<NNNN>.")
_PHASE = ("phase", "VARCHAR!", "Phase of the trial: load, settle, a query type, …; trial for the whole.")

TABLES: tuple[Table, ...] = (
    _tables_table(
        "runs",
        "run_id",
        "One execution of an experiment, at a profile, on one machine.",
        ("run_id", "VARCHAR!", "Identity of the run: <experiment>-<YYYYMMDDTHHMMSS>-<4 hex>."),
        ("experiment", "VARCHAR!", "Slug of the experiment."),
        ("title", "VARCHAR", "Title of the experiment."),
        ("question", "VARCHAR", "The question that the experiment asks, in one sentence."),
        ("profile", "VARCHAR!", "How big: smoke, quick or published."),
        ("order_seed", "BIGINT", "Seed of the shuffled order of trials."),
        ("planned_trials", "BIGINT", "Number of trials in the plan."),
        ("trials_per_cell", "BIGINT", "Number of trials planned for each cell."),
        ("created_at", "TIMESTAMP", "When the plan was made, UTC."),
        ("started_at", "TIMESTAMP", "When the first trial could start, UTC."),
        ("finished_at", "TIMESTAMP", "When the last trial had ended, UTC; NULL for an unfinished run."),
        ("benchbook_version", "VARCHAR", "Version of the harness."),
        ("git_revision", "VARCHAR", "Revision of the checkout; NULL outside of one."),
        ("git_dirty", "BOOLEAN", "Whether the checkout had changes that were not committed."),
        ("lock_digest", "VARCHAR", "sha256 of the lock of the Python packages."),
        ("experiment_digest", "VARCHAR", "sha256 of the experiment's declaration."),
        ("dataset_digest", "VARCHAR", "sha256 of the dataset's bytes."),
        ("queries_digest", "VARCHAR", "sha256 of the query set."),
        ("argv", "VARCHAR", "The command line, a JSON list."),
    ),
    _tables_table(
        "run_facts",
        "run_id",
        "Everything else known of a run: one row for each entry of each part of run.json.",
        ("run_id", "VARCHAR!", "Run the fact belongs to."),
        ("topic", "VARCHAR!", "Part of run.json: provenance, host, controls, dataset, programs, …"),
        ("key", "VARCHAR!", "Entry in that part: name of the fact, control or system, or place in a list."),
        ("value", "VARCHAR", "The entry as JSON; take it apart with value ->> '$.key'."),
    ),
    _tables_table(
        "trials",
        "trial_id",
        "One fresh invocation of a cell: new server, new data folder, one measurement of every phase.",
        ("trial_id", "VARCHAR!", "Identity of the trial: <run_id>/<NNNN>."),
        ("run_id", "VARCHAR!", "Run the trial belongs to."),
        ("experiment", "VARCHAR!", "Slug of the experiment."),
        ("profile", "VARCHAR!", "How big: smoke, quick or published."),
        ("system", "VARCHAR!", "System under test."),
        ("arm", "VARCHAR", "Configuration of the system: vanilla, tuned, published or as-published."),
        ("storage", "VARCHAR", "Where the system kept its files."),
        ("cell", "VARCHAR!", "The combination of levels: factor=level, joined by commas."),
        ("block", "BIGINT!", "Pass over all cells, from 0; trials of one block are paired."),
        ("position", "BIGINT!", "Place in the order of its block, from 0."),
        ("index", "BIGINT!", "Place in the order of the whole run, from 0."),
        ("status", "VARCHAR!", "ok, failed, skipped or invalid."),
        ("reason", "VARCHAR", "Why it is not ok, in words; NULL where it is."),
        ("started_at", "TIMESTAMP", "When it started, UTC."),
        ("ended_at", "TIMESTAMP", "When it ended, UTC."),
        ("duration_seconds", "DOUBLE", "Whole duration, s."),
        ("start_seconds", "DOUBLE", "From the start of the server until it answered, s."),
        ("overhead_seconds", "DOUBLE", "The harness's own share: neither server start nor a phase, s."),
        ("telemetry_cost_seconds", "DOUBLE", "Processor time that taking telemetry samples took, s."),
        ("version_reported", "VARCHAR", "The version that the running system stated."),
        ("program", "VARCHAR", "What was started and where it came from, JSON."),
        ("config_digest", "VARCHAR", "sha256 of the configuration files."),
        ("dataset_digest", "VARCHAR", "sha256 of the dataset's bytes."),
        ("queries_digest", "VARCHAR", "sha256 of the query set."),
        (
            "cache_state",
            "VARCHAR",
            "Caches at the start: cold, warm, or lukewarm where dropping was not permitted or left some of the data.",
        ),
        ("data_to_memory", "DOUBLE", "Bytes of the dataset over bytes of memory of the machine, 1."),
        (
            "storage_facts",
            "VARCHAR",
            "What the storage stood on: file system, mount and its options, programs, JSON.",
        ),
        ("load_before", "VARCHAR", "Load of the machine before the trial, JSON."),
        (
            "confinement",
            "VARCHAR",
            "Limits of the system, cores of server and client, and in words why they have or have not their own, JSON.",
        ),
        ("unmeasured", "VARCHAR", "Metrics that could not be measured, each with the reason, JSON."),
        (
            "placement",
            "VARCHAR",
            "The machines of server and clients and the offsets of their clocks, JSON; NULL on one machine.",
        ),
    ),
    _tables_table(
        "levels",
        "trial_id",
        "The level of each factor in a trial.",
        _TRIAL,
        ("factor", "VARCHAR!", "Variable of the experiment: system, arm, batch_size, …"),
        ("level", "VARCHAR", "Its value in this trial, as text."),
    ),
    _tables_table(
        "phases",
        "trial_id",
        "The phases of a trial, in order.",
        _TRIAL,
        _PHASE,
        ("workload", "VARCHAR", "What was done: load, query, …; NULL for phases of the harness."),
        ("position", "BIGINT", "Place in the trial, from 0."),
        ("started_seconds", "DOUBLE", "Start, s since the start of the trial."),
        ("duration_seconds", "DOUBLE", "Duration, s."),
        ("timed", "BOOLEAN", "Whether its duration is a measurement."),
    ),
    _tables_table(
        "measurements",
        "trial_id",
        "One number a trial, phase and metric.",
        _TRIAL,
        _PHASE,
        ("metric", "VARCHAR!", "Name of the metric, such as rows_per_second or latency_p99."),
        ("value", "DOUBLE", "The number, in its unit."),
        ("unit", "VARCHAR!", "Unit: s, B, 1/s, B/s, or 1 for a plain number."),
        ("direction", "VARCHAR!", "Which is better: higher, lower, or none."),
    ),
    _tables_table(
        "intervals",
        "trial_id",
        "What a client did in each short interval of a phase.",
        _TRIAL,
        _PHASE,
        ("operation", "VARCHAR", "Kind of operation: write, query or warmup."),
        ("started_seconds", "DOUBLE", "Start, s since the start of the phase."),
        ("duration_seconds", "DOUBLE", "Length, s."),
        ("operations", "BIGINT", "Operations that ended in it."),
        ("rows", "BIGINT", "Rows acknowledged in it."),
        ("values", "BIGINT", "Values acknowledged in it."),
        ("bytes", "BIGINT", "Bytes acknowledged in it, B."),
        ("errors", "BIGINT", "Operations that failed in it."),
        ("warmup", "BOOLEAN", "Whether it is warm-up: kept, and left out of measurements."),
        ("histogram", "VARCHAR", "Latencies in it: HdrHistogram V2, base64, in ns; NULL without any."),
    ),
    _tables_table(
        "client_intervals",
        "trial_id",
        "What each of several clients did in each short interval of a phase.",
        _TRIAL,
        _PHASE,
        ("client", "BIGINT!", "Which client, from 0."),
        ("operation", "VARCHAR", "Kind of operation: write, query or warmup."),
        ("started_seconds", "DOUBLE", "Start, s since the start of that client's clock."),
        ("duration_seconds", "DOUBLE", "Length, s."),
        ("operations", "BIGINT", "Operations that ended in it."),
        ("rows", "BIGINT", "Rows acknowledged in it."),
        ("errors", "BIGINT", "Operations that failed in it."),
        ("histogram", "VARCHAR", "Latencies in it: HdrHistogram V2, base64, in ns; NULL without any."),
    ),
    _tables_table(
        "histograms",
        "trial_id",
        "The whole latency distribution of a phase.",
        _TRIAL,
        _PHASE,
        ("operation", "VARCHAR", "Kind of operation: write, query or warmup."),
        ("kind", "VARCHAR!", "latency, or service (from the actual start) beside it in open loops."),
        ("warmup", "BOOLEAN!", "Whether it holds warm-up operations."),
        ("count", "BIGINT", "Number of operations in it."),
        ("histogram", "VARCHAR!", "HdrHistogram V2, base64, in ns."),
    ),
    _tables_table(
        "operations",
        "trial_id",
        "Every single operation, where a run was asked to keep them (--record-operations); else no rows.",
        _TRIAL,
        _PHASE,
        ("operation", "VARCHAR!", "Kind of operation: write, query, warmup, put, get or delete."),
        ("client", "BIGINT!", "Client process, from 0."),
        ("worker", "BIGINT!", "Worker of that client, from 0: one connection with one operation on its way."),
        (
            "intended_ns",
            "BIGINT!",
            "When it should have begun, ns since the phase began; in a closed loop when it was first tried.",
        ),
        (
            "start_ns",
            "BIGINT!",
            "When it began, on the same clock; of a write that was tried again, the last try.",
        ),
        ("end_ns", "BIGINT!", "When its answer was whole, or it had failed, on the same clock."),
        ("rows", "BIGINT!", "Rows acknowledged or received."),
        (
            "status",
            "VARCHAR!",
            "ok, or the kind of its failure: refused, timeout, connection, server, answer, …",
        ),
        ("warmup", "BOOLEAN!", "Whether it is warm-up: kept, and left out of measurements."),
    ),
    _tables_table(
        "errors",
        "trial_id",
        "Operations that failed, by phase and kind.",
        _TRIAL,
        _PHASE,
        ("kind", "VARCHAR!", "Kind of failure: refused, timeout, connection, …"),
        ("status", "VARCHAR", "Status that the system gave, as text; NULL without one."),
        ("message", "VARCHAR", "The first message of its kind."),
        ("operations", "BIGINT", "How many operations failed so."),
        ("rows", "BIGINT", "How many rows were in them."),
    ),
    _tables_table(
        "checks",
        "trial_id",
        "What was checked outside the timed phases.",
        _TRIAL,
        ("name", "VARCHAR!", "What was checked."),
        ("expected", "VARCHAR", "What should have been found, JSON."),
        ("found", "VARCHAR", "What was found, JSON."),
        ("ok", "BOOLEAN!", "Whether they agree."),
    ),
    _tables_table(
        "answers",
        "trial_id",
        "Answers to queries, taken outside the timed phases to compare systems.",
        _TRIAL,
        ("query_type", "VARCHAR!", "Type of the query."),
        ("query_id", "VARCHAR!", "Identity of the query among those of its type."),
        ("digest", "VARCHAR", "sha256 of columns and rows as recorded."),
        ("row_count", "BIGINT", "Rows in the answer."),
        ("columns", "VARCHAR", "Names of the columns, a JSON list."),
        ("rows", "VARCHAR", "The rows, a JSON list of lists."),
    ),
    _tables_table(
        "telemetry",
        "trial_id",
        "Samples of processor, memory, disk and pressure, once a second.",
        _TRIAL,
        _PHASE,
        ("seconds", "DOUBLE!", "When, s since the start of the trial."),
        ("scope", "VARCHAR!", "Whose: server, client, machine or harness."),
        ("metric", "VARCHAR!", "Name of the metric, such as cpu_seconds or rss_bytes."),
        ("value", "DOUBLE", "The number, in its unit."),
        ("unit", "VARCHAR!", "Unit: s, B, 1/s, B/s, or 1 for a plain number."),
    ),
    _tables_table(
        "schema_version",
        "version",
        "The version of these tables: one row.",
        ("version", "BIGINT!", "Version of the tables; a file of another one is rebuilt or refused."),
    ),
)

BY_NAME: dict[str, Table] = {table.name: table for table in TABLES}
OF_RUN: tuple[Table, ...] = tuple(table for table in TABLES if table.owner == "run_id")
OF_TRIAL: tuple[Table, ...] = tuple(table for table in TABLES if table.owner == "trial_id")


# The statements that make the tables, and the page that describes them, from their declarations.

# ruff: noqa: S608 - names of tables and columns come from record.tables; values are bound


def quoted(name: str) -> str:
    """Return ``name`` as an SQL identifier (``rows``, ``values`` and ``index`` are words of SQL)."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return ``text`` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def statements() -> list[str]:
    """Return the statements that make every table with its comments, and state the schema version."""
    made = [statement for table in TABLES for statement in _ddl_table(table)]
    return [*made, f"INSERT INTO schema_version VALUES ({SCHEMA_VERSION})"]


def _ddl_table(table: Table) -> list[str]:
    columns = ", ".join(
        f"{quoted(column.name)} {column.type}{' NOT NULL' if column.required else ''}"
        for column in table.columns
    )
    name = quoted(table.name)
    return [
        f"CREATE TABLE {name} ({columns})",
        f"COMMENT ON TABLE {name} IS {literal(table.comment)}",
        *(
            f"COMMENT ON COLUMN {name}.{quoted(column.name)} IS {literal(column.comment)}"
            for column in table.columns
        ),
    ]
