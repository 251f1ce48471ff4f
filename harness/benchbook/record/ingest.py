"""Fill the database from the folders of runs and trials.

Entering a run or trial replaces the rows it had before. Many trials share one transaction. If one of them turns
out to be corrupt, the batch is halved until that trial is alone; it is reported by name, left out, and left on disk.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.declare import names
from benchbook.declare.sql_text import literal, quoted
from benchbook.host import guarded
from benchbook.record import check, folder, foreign, lines, looks, manifest
from benchbook.record import trial as trial_json
from benchbook.record.folder import Say
from benchbook.record.tables import (
    BY_NAME,
    OF_RUN,
    OF_TRIAL,
    SCHEMA_VERSION,
    Column,
    Table,
    arrow_types,
)
from benchbook.record.trial_record import Trial

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

# ruff: noqa: S608 - names of tables and columns come from record.tables; values are bound

STATED_TWICE = 5
"""Last version of tables in which a trial with several loads has its sizes once for each of them."""
MOST_ROWS = 20_000_000
"""Rows in all tables of an exported run; the largest published one has 166,408."""
MOST_ANSWERS = 10_000
"""Answers of a trial: a page compares all of them, and 20 of each type of query are kept."""
BATCH_TRIALS = 1000
"""Trials in one transaction of a rebuild: enough to keep every core busy, little enough for memory."""

LEFT_OUT = "Left out: "
"""Begins each sentence about what does not enter the database."""

Rows = dict[str, list[tuple[Any, ...]]]
"""Table → rows, each in the order of the table's columns."""

_AS_IS = ("run_id", "experiment", "title", "question", "profile", "order_seed")
_TOPICS = (
    "provenance", "host", "controls", "dataset", "programs", "calibration", "declared", "cluster", "sequential",
    "gate", "looks", "earlier_runs", "altered", "stopped",
)  # fmt: skip


# From the JSON of trials and runs to rows, and from rows to Arrow tables.


def text(value: Any) -> str:
    """Return a value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def of_trial(trial: Trial) -> Rows:
    """Return the rows of a whole trial in the tables that ``trial.json`` fills."""
    held: dict[str, Sequence[Mapping[str, Any]]] = {
        "levels": [{"factor": factor, "level": level} for factor, level in trial["levels"].items()],
        "phases": trial["phases"],
        "measurements": trial["measurements"],
        "errors": trial["errors"],
        "checks": [
            {
                **row,
                "kind": row.get("kind") or check.of_older(row["name"]),
                **{name: text(row.get(name)) for name in ("expected", "found")},
            }
            for row in trial["checks"]
        ],
    }
    rows = {
        name: [_row(name, {**entry, "trial_id": trial["trial_id"]}) for entry in entries]
        for name, entries in held.items()
    }
    return {"trials": [_row("trials", trial)], **rows}


def _row(table: str, entry: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return an entry of ``trial.json`` as a row; its keys are the columns of the table."""
    return tuple(_cell(column, entry.get(column.name)) for column in BY_NAME[table].columns)


def _cell(column: Column, value: Any) -> Any:
    if value is None:
        return None
    if column.type == "TIMESTAMP":
        return trial_json.moment(value)
    return text(value) if column.type == "VARCHAR" and not isinstance(value, str) else value


def of_run(run: dict[str, Any], plan: dict[str, Any]) -> Rows:
    """Return the rows of a run from run.json and plan.json; one of them may be ``{}``.

    Raises ValueError if a required entry is missing or of a wrong type.
    """
    merged = {**plan, **run}
    provenance = merged.get("provenance") or {}
    if not isinstance(provenance, dict):
        raise ValueError(f'"provenance" is {type(provenance).__name__}, not an object')  # noqa: TRY004
    planned = plan.get("trials")
    if isinstance(planned, list):
        planned = looks.needed(planned, merged.get("looks") or [])
    found: dict[str, Any] = {
        **{column.name: provenance.get(column.name) for column in BY_NAME["runs"].columns},
        **{key: merged.get(key) for key in _AS_IS},
        "planned_trials": len(planned) if isinstance(planned, list) else None,
        "trials_per_cell": merged.get("trials_per_cell"),
        "argv": text(merged["argv"]) if "argv" in merged else None,
    }
    for key in ("created_at", "started_at", "finished_at"):
        value = merged.get(key)
        if value is not None and not isinstance(value, str):
            raise ValueError(f'"{key}" is {type(value).__name__}, not a time')
        found[key] = trial_json.moment(value) if value else None
    for key in ("run_id", "experiment", "profile"):
        if not isinstance(found[key], str):
            raise ValueError(f'"{key}" is missing or not text')  # noqa: TRY004
    facts = [
        (found["run_id"], topic, key, text(value))
        for topic in _TOPICS
        for key, value in _entries(merged.get(topic))
    ]
    facts += _planned(found["run_id"], plan)
    return {"runs": [tuple(found[column.name] for column in BY_NAME["runs"].columns)], "run_facts": facts}


def _planned(run_id: str, plan: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return the facts of a run that plan.json alone has: phases, factors and the declaration of its dataset."""
    return [
        (run_id, "planned", key, text(plan[key])) for key in ("dataset", "phases", "factors") if key in plan
    ]


def _entries(topic: Any) -> Iterable[tuple[str, Any]]:
    """Split a part of run.json: an object by key, a list by the name of each entry or its place."""
    if isinstance(topic, dict):
        return topic.items()
    if isinstance(topic, list):
        return [
            (str(entry["control"]) if isinstance(entry, dict) and "control" in entry else str(place), entry)
            for place, entry in enumerate(topic)
        ]
    return []


def arrow(table: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    """Return rows as an Arrow table of the declared types; raise ValueError for a value of another type."""
    import pyarrow as pa

    types = arrow_types(BY_NAME[table])
    values = list(zip(*rows, strict=True)) if rows else [() for _ in types]
    try:
        return pa.table({name: pa.array(values[place], type=types[name]) for place, name in enumerate(types)})
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise ValueError(f"a value for table {table} is of a wrong type: {error}") from error


# Into the database.


def runs(connection: DuckDBPyConnection, folders: Sequence[Path], say: Say) -> int:
    """Enter runs with all their trials, many trials at once; return how many trials were whole."""
    entered = 0
    for where in folders:
        if folder.from_tables(where):
            entered += _tables(connection, where, say)
        else:
            run_facts(connection, where, say)
    with_trials = [where for where in folders if not folder.from_tables(where)]
    return entered + trials(
        connection, [one for where in with_trials for one in folder.trial_folders(where)], say
    )


def run(connection: DuckDBPyConnection, where: Path, say: Say, only: Sequence[Path] | None = None) -> int:
    """Enter a run and its trials (``only`` these, if given); return how many trials were whole."""
    if only is None or folder.from_tables(where):
        return runs(connection, [where], say)
    run_facts(connection, where, say)
    return trials(connection, only, say)


def run_facts(connection: DuckDBPyConnection, where: Path, say: Say) -> bool:
    """Enter the facts of a run; return False if they are corrupt."""
    try:
        run, plan = _stated(where, folder.RUN_FILE), _stated(where, folder.PLAN_FILE)
        _require_description(where, {**plan, **run})
        if (
            where / manifest.FILE
        ).exists():  # of somebody else; the clock of this machine may have been wrong
            foreign.require_times({**plan, **run})
            foreign.require_entries({**plan, **run})
        made = of_run(run, plan)
        run_id = where.name
        tables = {name: arrow(name, held) for name, held in made.items()}
    except (ValueError, OverflowError) as error:
        say(f"{LEFT_OUT}the run in {where} has an invalid run.json or plan.json: {error}.")
        return False
    with _transaction(connection):
        _delete(connection, OF_RUN, [run_id])
        for name, table in tables.items():
            _append(connection, name, table)
    return True


def _tables(connection: DuckDBPyConnection, where: Path, say: Say) -> int:
    """Enter a run from its tables; return how many trials it has, 0 if a table is damaged or has rows of others."""
    import duckdb

    try:
        facts = {**_stated(where, folder.PLAN_FILE), **_stated(where, folder.RUN_FILE)}
        _require_description(where, facts)
        foreign.require_times(facts)
        with lines.damage_as_value_error("its tables are not those of a run"), _transaction(connection):
            _require_rows(connection, where)
            for table in (*OF_RUN, *OF_TRIAL):
                _stage(connection, table, where / folder.TABLES_FOLDER / f"{table.name}.parquet")
            if _schema(where) <= STATED_TWICE:
                foreign.leave_out_stated_twice(connection)
            foreign.require(connection, where.name, facts)
            _delete_run(connection, where.name)
            for table in (*OF_RUN, *OF_TRIAL):
                connection.execute(
                    f"INSERT INTO {quoted(table.name)} SELECT * FROM {foreign.incoming(table)}; "
                    f"DROP TABLE {foreign.incoming(table)}"
                )
            _plan_of_older_tables(connection, where)
    except (duckdb.Error, ValueError, RecursionError) as error:
        if not _is_of_the_data(error, [where]):
            raise
        say(f"{LEFT_OUT}the run in {where} is corrupt: {_first_line(error)}.")
        return 0
    found = connection.execute("SELECT count(*) FROM trials WHERE run_id = ?", [where.name]).fetchone()
    return int(found[0]) if found else 0


def _schema(where: Path) -> int:
    """Return the version of a run's tables; the present one if it has no manifest."""
    return manifest.read(where).schema if (where / manifest.FILE).exists() else SCHEMA_VERSION


def _plan_of_older_tables(connection: DuckDBPyConnection, where: Path) -> None:
    """Enter what was planned for a run whose tables, of version 6 or older, lack it."""
    known = "SELECT 1 FROM run_facts WHERE run_id = ? AND topic = 'planned' LIMIT 1"
    path = where / folder.PLAN_FILE
    if path.exists() and not connection.execute(known, [where.name]).fetchone():
        for row in _planned(where.name, folder.read_object(path)):
            connection.execute("INSERT INTO run_facts VALUES (?, ?, ?, ?)", list(row))


def _require_rows(connection: DuckDBPyConnection, where: Path) -> None:
    """Raise ValueError unless the tables have as many rows as the manifest says, and no more than a run has.

    A file of 1 MB can hold 100 million equal rows, which take gigabytes of memory. Only its metadata is read here.
    """
    stated = manifest.read(where).rows if (where / manifest.FILE).exists() else None
    total = trials = 0
    for table in (*OF_RUN, *OF_TRIAL):
        file = where / folder.TABLES_FOLDER / f"{table.name}.parquet"
        if not file.is_file():
            continue
        text = f"SELECT num_rows FROM parquet_file_metadata({literal(lines.escaped(str(file)))})"
        held = sum(int(row[0]) for row in connection.execute(text).fetchall())
        expected = (stated or {}).get(table.name, held)
        if held != expected:
            raise ValueError(f"{file} has {held} rows, and its manifest says {expected}")
        trials = held if table.name == "trials" else trials
        if table.name == "answers" and held > MOST_ANSWERS * trials:
            raise ValueError(f"{file} has {held} rows; at most {MOST_ANSWERS} for each trial are read")
        total += held
    if total > MOST_ROWS:
        raise ValueError(f"its tables have {total} rows; at most {MOST_ROWS} are read")


def _stage(connection: DuckDBPyConnection, table: Table, file: Path) -> None:
    """Copy a Parquet file into a temporary table with the declared types; columns that it lacks are NULL."""
    held = foreign.incoming(table)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {held} AS SELECT * FROM {quoted(table.name)} LIMIT 0")
    if reason := guarded.irregular(file):
        raise ValueError(f"{file} is {reason}, not a file")
    if file.exists():
        # By name, with the columns of today: those that an older table lacks are NULL.
        none = f"SELECT * FROM {held} WHERE false"
        read = f"SELECT * FROM read_parquet({literal(lines.escaped(str(file)))})"
        connection.execute(
            f"INSERT INTO {held} BY NAME"
            f" SELECT * {check.completed(table.name)} FROM ({none} UNION ALL BY NAME {read})"
        )


def _stated(where: Path, name: str) -> dict[str, Any]:
    """Return run.json or plan.json; ``{}`` if the run has none."""
    path = where / name
    return folder.read_object(path) if path.exists() else {}


def _require_description(where: Path, facts: dict[str, Any]) -> None:
    """Raise ValueError unless the names of a run are names, and it is the run of its folder."""
    names.require(facts)
    if facts["run_id"] != where.name:
        raise ValueError(f'it is run "{facts["run_id"]}"')


def trials(connection: DuckDBPyConnection, folders: Sequence[Path], say: Say) -> int:
    """Enter trials; return how many were whole."""
    entered = 0
    for batch in batched(folders, BATCH_TRIALS):
        whole = []
        for where in batch:
            try:
                whole.append((where, of_trial(trial_json.read(where, whole=True))))
            except ValueError as error:
                say(f"{LEFT_OUT}{error}.")
        entered += _enter(connection, whole, say)
    return entered


def batched(folders: Sequence[Path], size: int) -> Iterator[Sequence[Path]]:
    """Yield the folders in groups of ``size``."""
    for start in range(0, len(folders), size):
        yield folders[start : start + size]


def _enter(connection: DuckDBPyConnection, whole: Sequence[tuple[Path, Rows]], say: Say) -> int:
    import duckdb

    if not whole:
        return 0
    try:
        with _transaction(connection):
            _replace(connection, whole)
        return len(whole)
    except (duckdb.Error, ValueError) as error:
        if not _is_of_the_data(error, [where for where, _ in whole]):
            raise
        if len(whole) == 1:
            say(f"{LEFT_OUT}the trial in {whole[0][0]} is corrupt: {_first_line(error)}.")
            return 0
    half = len(whole) // 2
    return _enter(connection, whole[:half], say) + _enter(connection, whole[half:], say)


@contextlib.contextmanager
def _transaction(connection: DuckDBPyConnection) -> Iterator[None]:
    import duckdb

    connection.begin()
    try:
        yield
        connection.commit()
    except BaseException:
        with contextlib.suppress(duckdb.TransactionException):  # a failed commit has already ended it
            connection.rollback()
        raise


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(". ")


def _is_of_the_data(error: Exception, places: Sequence[Path]) -> bool:
    """Return whether an error comes from corrupt files in these folders, not from the database or a full disk."""
    import duckdb

    if isinstance(
        error,
        (ValueError, RecursionError, duckdb.DataError, duckdb.IntegrityError, duckdb.InvalidInputException),
    ):
        return True
    return isinstance(error, duckdb.IOException) and any(f'"{where}' in str(error) for where in places)


def _replace(connection: DuckDBPyConnection, whole: Sequence[tuple[Path, Rows]]) -> None:
    identities = [(made["trials"][0][0], where) for where, made in whole]
    _delete(connection, OF_TRIAL, [trial_id for trial_id, _ in identities])
    for name in whole[0][1]:
        _append(connection, name, arrow(name, [row for _, made in whole for row in made[name]]))
    for source in lines.SOURCES:
        lines.insert(connection, source, identities)
    lines.insert_operations(connection, identities)


def _delete(connection: DuckDBPyConnection, tables: Sequence[Table], owners: list[str]) -> None:
    """Delete the rows of these trials or runs; if the first table has none, the others have none."""
    import pyarrow as pa

    # Not as a parameter: for each entry of a list, the binding searches for libraries that are not installed.
    connection.register("owners", pa.table({"owner": pa.array(owners, pa.string())}))
    try:
        of_these = f"{tables[0].owner} IN (SELECT owner FROM owners)"  # all have the same owner
        if connection.execute(f"SELECT 1 FROM {tables[0].name} WHERE {of_these} LIMIT 1").fetchone():
            for table in tables:
                connection.execute(f"DELETE FROM {table.name} WHERE {of_these}")
    finally:
        connection.unregister("owners")


def _delete_run(connection: DuckDBPyConnection, run_id: str) -> None:
    """Delete a run with all its trials, without pyarrow, whose import takes longer than opening a published run."""
    known = "SELECT 1 FROM runs WHERE run_id = $1 UNION ALL SELECT 1 FROM trials WHERE run_id = $1 LIMIT 1"
    if not connection.execute(known, [run_id]).fetchone():
        return
    of_run = "WHERE trial_id IN (SELECT trial_id FROM trials WHERE run_id = ?)"
    for table in reversed(OF_TRIAL):  # the first one, trials, names the others' rows
        connection.execute(f"DELETE FROM {table.name} {of_run}", [run_id])
    for table in OF_RUN:
        connection.execute(f"DELETE FROM {table.name} WHERE run_id = ?", [run_id])


def _append(connection: DuckDBPyConnection, table: str, content: Any) -> None:
    if content.num_rows == 0:
        return
    names = ", ".join(quoted(name) for name in content.column_names)
    connection.register("incoming", content)
    try:
        connection.execute(f"INSERT INTO {table} ({names}) SELECT * FROM incoming")
    finally:
        connection.unregister("incoming")
