"""Fill the database from the folders of runs and trials: idempotent, one transaction a trial."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.record import folder, lines
from benchbook.record.folder import Say, tell
from benchbook.record.tables import BY_NAME, OF_RUN, OF_TRIAL, Table, arrow_types, quoted
from benchbook.record.trial import moment

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection


# A trial's or run's JSON turned into rows of the tables, and rows into Arrow tables for DuckDB.

Rows = dict[str, list[tuple[Any, ...]]]
"""Table → rows, each in the order of the table's columns."""

_FROM_JSON = {"program", "load_before", "storage_facts", "unmeasured", "placement", "confinement"}
_MOMENTS = {"started_at", "ended_at"}
_AS_IS = ("run_id", "experiment", "title", "question", "profile", "order_seed")
_TOPICS = ("provenance", "host", "controls", "dataset", "programs", "calibration", "declared", "cluster")


def text(value: Any) -> str:
    """Return a value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def of_trial(trial: dict[str, Any]) -> Rows:
    """Return the rows of a whole trial for the tables that ``trial.json`` fills."""
    trial_id = trial["trial_id"]
    return {
        "trials": [tuple(_trial_value(column.name, trial) for column in BY_NAME["trials"].columns)],
        "levels": [
            (trial_id, factor, level if isinstance(level, str) or level is None else text(level))
            for factor, level in trial["levels"].items()
        ],
        "phases": [
            (
                trial_id, row["phase"], row["workload"], row["position"],
                row["started_seconds"], row["duration_seconds"], row["timed"],
            )
            for row in trial["phases"]
        ],
        "measurements": [
            (trial_id, row["phase"], row["metric"], row["value"], row["unit"], row["direction"])
            for row in trial["measurements"]
        ],
        "errors": [
            (
                trial_id, row["phase"], row["kind"],
                None if row.get("status") is None else str(row["status"]),
                row.get("message"), row.get("operations"), row.get("rows"),
            )
            for row in trial["errors"]
        ],
        "checks": [
            (trial_id, row["name"], text(row.get("expected")), text(row.get("found")), row["ok"])
            for row in trial["checks"]
        ],
    }  # fmt: skip


def _trial_value(name: str, trial: dict[str, Any]) -> Any:
    value = trial.get(name)
    if value is None:
        return None
    if name in _MOMENTS:
        return moment(value)
    return text(value) if name in _FROM_JSON else value


def of_run(run: dict[str, Any], plan: dict[str, Any]) -> Rows:
    """Return the rows of a run from run.json and plan.json; either may be ``{}``, not both.

    Raises ValueError where what must be there is not, or is of a wrong type.
    """
    merged = {**plan, **run}
    provenance = merged.get("provenance") or {}
    if not isinstance(provenance, dict):
        raise ValueError(f'"provenance" is {type(provenance).__name__}, not an object')  # noqa: TRY004
    planned = plan.get("trials")
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
        found[key] = moment(value) if value else None
    for key in ("run_id", "experiment", "profile"):
        if not isinstance(found[key], str):
            raise ValueError(f'"{key}" is missing or no text')  # noqa: TRY004
    facts = [
        (found["run_id"], topic, key, text(value))
        for topic in _TOPICS
        for key, value in _entries(merged.get(topic))
    ]
    return {"runs": [tuple(found[column.name] for column in BY_NAME["runs"].columns)], "run_facts": facts}


def _entries(topic: Any) -> Iterable[tuple[str, Any]]:
    """Take a part of run.json apart: an object by key; a list by the name of each entry, or its place."""
    if isinstance(topic, dict):
        return topic.items()
    if isinstance(topic, list):
        return [
            (str(entry["control"]) if isinstance(entry, dict) and "control" in entry else str(place), entry)
            for place, entry in enumerate(topic)
        ]
    return []


def arrow(table: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    """Return rows as an Arrow table of the types that the columns declare.

    Raises ValueError (pyarrow's, or OverflowError's words) for a value of another type.
    """
    import pyarrow as pa

    types = arrow_types(BY_NAME[table])
    values = list(zip(*rows, strict=True)) if rows else [() for _ in types]
    try:
        return pa.table({name: pa.array(values[place], type=types[name]) for place, name in enumerate(types)})
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise ValueError(f"a value for table {table} is of a wrong type: {error}") from error


# Fill the database from the folders of runs and trials: idempotent, one transaction a trial.
#
# Many trials at once (a rebuild) share a transaction. When one of them turns out corrupt, the batch is
# halved until that one is alone; it is said by name, left out, and left on disk as it is.

# ruff: noqa: S608 - names of tables and columns come from record.tables; values are bound


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
        made = of_run(*found)
        run_id = made["runs"][0][0]
        if run_id != run_folder.name:
            raise ValueError(f'it is run "{run_id}"')
        tables = {name: arrow(name, held) for name, held in made.items()}
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


def folder_trial(where: Path) -> Rows:
    """Read a trial folder's ``trial.json`` as rows; raise ValueError where it is corrupt."""
    from benchbook.record import trial as reading

    return of_trial(reading.read(where))


def _enter(connection: DuckDBPyConnection, whole: Sequence[tuple[Path, Rows]], say: Say) -> int:
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


def _is_of_the_data(error: Exception, whole: Sequence[tuple[Path, Rows]]) -> bool:
    """Tell a corrupt trial from a failure of the database (a full disk), which is no trial's fault."""
    import duckdb

    data = (ValueError, duckdb.DataError, duckdb.IntegrityError, duckdb.InvalidInputException)
    if isinstance(error, data):
        return True
    return isinstance(error, duckdb.IOException) and any(f'"{where}' in str(error) for where, _ in whole)


def _replace(connection: DuckDBPyConnection, whole: Sequence[tuple[Path, Rows]]) -> None:
    identities = [(made["trials"][0][0], where) for where, made in whole]
    _delete(connection, OF_TRIAL, [trial_id for trial_id, _ in identities])
    for name in whole[0][1]:
        _append(connection, name, arrow(name, [row for _, made in whole for row in made[name]]))
    for source in lines.SOURCES:
        lines.insert(connection, source, identities)
    lines.insert_operations(connection, identities)


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
