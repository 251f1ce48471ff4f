"""Check the tables of an export before they enter the database: only rows of that run, with values that can be judged.

Whoever made an export chose every row of its tables. A row that names a trial of another run would count in that run,
so one such row refuses the whole run. The tables must also belong to the plan beside them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import NoneType
from typing import TYPE_CHECKING, Any

from benchbook.declare import names
from benchbook.declare.sql_text import quoted
from benchbook.record import plain
from benchbook.record import trial as trial_json
from benchbook.record.tables import BY_NAME, OF_RUN, OF_TRIAL, Column, Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# ruff: noqa: S608 - names of tables and columns come from record.tables; values are bound

KEYS = {
    "trials": ("trial_id",),
    "levels": ("trial_id", "factor"),
    "measurements": ("trial_id", "phase", "metric"),
    "run_facts": ("run_id", "topic", "key"),
}
"""Columns that no two rows of a table share: a second row would count twice."""

LARGEST, SMALLEST = 1e30, 1e-30
"""Bounds of every number but 0: no quantity of a computer is outside, and sums, squares and ratios stay finite."""
LARGEST_COUNT = 10**18
STATES = ("ok", "failed", "skipped", "invalid")
DIRECTIONS = ("higher", "lower", "none")
EARLIEST = datetime(1990, 1, 1)  # noqa: DTZ001 - tables hold UTC without a zone
"""Bound of every time; the other one is tomorrow, as clocks differ. A later run would be the latest one for ever."""
TIMES = ("created_at", "started_at", "finished_at")
"""Times in the description of a run."""
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}.*")
"""The beginning of a time as Benchbook writes it; runs are sorted by this text."""
ENTRIES: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "earlier_runs": {
        "run_id": (str,), "profile": (str,), "machine": (str, NoneType), "against_itself": (bool,),
        "finished": (bool,), "trials": (int,),
    },
    "altered": {"trial_id": (str,), "status": (str,), "why": (str,)},
    "stopped": {"trial_id": (str,), "times": (int,)},
}  # fmt: skip
"""Lists in the description of a run from which pages say what may have been chosen → what each entry has."""
ANY_SEED = "order_seed"
"""The one number that is no quantity."""


def incoming(table: Table) -> str:
    """Return the name of the temporary table that holds the rows of an export until they are checked."""
    return f"incoming_{table.name}"


def require(connection: DuckDBPyConnection, run_id: str, facts: dict[str, Any]) -> None:
    """Raise ValueError unless the incoming tables hold this run alone; ``facts`` are its plan.json and run.json."""
    _require_run(connection, run_id, facts)
    _require_trials(connection, run_id, facts)
    for table in (*OF_RUN, *OF_TRIAL):
        of_run = table in OF_RUN
        own = "?" if of_run else "(SELECT trial_id FROM incoming_trials)"
        found = connection.execute(
            f"SELECT {table.owner} FROM {incoming(table)} WHERE {table.owner} {'<>' if of_run else 'NOT IN'} {own}"
            f" OR {table.owner} IS NULL LIMIT 1",
            [run_id] if of_run else [],
        ).fetchone()
        if found:
            raise ValueError(_foreign(table, found[0]))
        _require_once(connection, table)
        _require_values(connection, table)
    held: dict[str, list[Any]] = {}
    text = f"SELECT topic, value FROM {incoming(BY_NAME['run_facts'])} WHERE topic IN {tuple(ENTRIES)}"
    for topic, value in connection.execute(text).fetchall():
        held.setdefault(topic, []).append(json.loads(value) if value else None)
    require_entries(held)


def leave_out_stated_twice(connection: DuckDBPyConnection) -> int:
    """Delete incoming measurements that an older Benchbook stated twice with different values; return their number.

    In trials with several loads it recorded the sizes of the trial after each of them. Which one is meant is unknown,
    so none counts; of equal rows one stays.
    """
    held, keys = incoming(BY_NAME["measurements"]), ", ".join(KEYS["measurements"])
    equal = f"SELECT min(rowid) FROM {held} GROUP BY {keys}, value"
    twice = f"SELECT ({keys}) FROM {held} GROUP BY {keys} HAVING count(*) > 1"
    connection.execute(f"DELETE FROM {held} WHERE rowid NOT IN ({equal})")
    found = connection.execute(f"DELETE FROM {held} WHERE ({keys}) IN ({twice})").fetchone()
    return int(found[0]) if found else 0


def latest() -> datetime:
    """Return the last time, as UTC without a zone, that a run of somebody else may state."""
    return datetime.now(UTC).replace(tzinfo=None) + timedelta(days=1)


def require_times(facts: dict[str, Any]) -> None:
    """Raise ValueError unless the times of plan.json and run.json are times of the form and range of a run."""
    for key in TIMES:
        value = facts.get(key)
        if value is None and key != "created_at":
            continue
        if not isinstance(value, str) or not _TIME.fullmatch(value):
            raise ValueError(f"{key} is {names.shown(value)}, which is not a time")
        try:
            in_range = EARLIEST <= trial_json.moment(value) <= latest()
        except OverflowError:
            in_range = False
        if not in_range:
            raise ValueError(f"{key} is {names.shown(value)}, which is before 1990 or in the future")


def require_entries(facts: dict[str, Any]) -> None:
    """Raise ValueError unless each entry of the lists in plan.json and run.json has what pages take from it."""
    for topic, wanted in ENTRIES.items():
        held = facts.get(topic) or []
        if not isinstance(held, list):
            raise ValueError(f"{topic} is {names.shown(held)}, not a list")  # noqa: TRY004 - one error for all
        for one in held:
            stated = one if isinstance(one, dict) else {}
            if wrong := [key for key, types in wanted.items() if type(stated.get(key)) not in types]:
                raise ValueError(f"{topic} has {names.shown(one)}, without a valid {wrong[0]}")


def _foreign(table: Table, owner: object) -> str:
    kind = "run" if table in OF_RUN else "trial"
    return f"table {table.name} has a row of the {kind} {names.shown(owner)}, which is not of this run"


def _require_run(connection: DuckDBPyConnection, run_id: str, facts: dict[str, Any]) -> None:
    rows = connection.execute(
        "SELECT run_id, experiment, profile, order_seed FROM incoming_runs LIMIT 2"
    ).fetchall()
    if len(rows) != 1:
        raise ValueError(
            f"table runs has {'no row' if not rows else 'more than one row'}, not that of this run"
        )
    if rows[0][0] != run_id:
        raise ValueError(
            f"its tables do not belong to its plan: table runs has a row of the run {names.shown(rows[0][0])}"
        )
    for key, value in zip(("experiment", "profile", ANY_SEED), rows[0][1:], strict=True):
        if value != facts.get(key):
            raise ValueError(
                f"its tables do not belong to its plan: {key} is {names.shown(value)} in table runs and"
                f" {names.shown(facts.get(key))} in the plan"
            )


def _require_trials(connection: DuckDBPyConnection, run_id: str, facts: dict[str, Any]) -> None:
    planned = _planned(facts)
    columns = ("trial_id", "run_id", "experiment", "profile", "system", "arm", "storage", "status")
    placed = ("cell", "block", "position", "index")
    chosen = ", ".join(quoted(name) for name in (*columns, *placed))
    for row in connection.execute(f"SELECT {chosen} FROM incoming_trials").fetchall():
        trial = dict(zip((*columns, *placed), row, strict=True))
        trial_id = trial["trial_id"]
        if not names.is_trial_of(trial_id, run_id) or trial["run_id"] != run_id:
            other = trial["run_id"] if names.is_trial_of(trial_id, run_id) else trial_id
            raise ValueError(f"table trials has a row of {names.shown(other)}, which is not of this run")
        for key in ("experiment", "profile"):
            if trial[key] != facts.get(key):
                raise ValueError(
                    f"trial {trial_id} has the {key} {names.shown(trial[key])}, not that of the run"
                )
        for key in ("system", "arm", "storage"):
            if trial[key] is not None and not names.is_name(trial[key]):
                raise ValueError(f"{key} of trial {trial_id} is {names.shown(trial[key])}, which is no name")
        if trial["status"] not in STATES:
            raise ValueError(f"status of trial {trial_id} is {names.shown(trial['status'])}")
        if planned is not None and planned.get(trial_id) != tuple(trial[key] for key in placed):
            raise ValueError(
                f"its tables do not belong to its plan: trial {trial_id} is not, or differs, in the plan"
            )


def _planned(facts: dict[str, Any]) -> dict[str, tuple[Any, ...]] | None:
    """Return trial → cell, block, position and index of a plan; None for a run that kept no plan."""
    trials = facts.get("trials")
    if trials is None:
        return None
    try:
        return {one["trial_id"]: (one["cell"], one["block"], one["position"], one["index"]) for one in trials}
    except (TypeError, KeyError) as error:
        raise ValueError(f"the trials of its plan cannot be read: {error}") from error


def _require_once(connection: DuckDBPyConnection, table: Table) -> None:
    if keys := KEYS.get(table.name):
        chosen = ", ".join(keys)
        found = connection.execute(
            f"SELECT {chosen} FROM {incoming(table)} GROUP BY ALL HAVING count(*) > 1 LIMIT 1"
        ).fetchone()
        if found:
            raise ValueError(f"table {table.name} has two rows of {', '.join(map(names.shown, found))}")


def _require_values(connection: DuckDBPyConnection, table: Table) -> None:
    """Raise ValueError if a table has numbers out of range, JSON that is none, or a direction that is none.

    One query finds out whether any column has; only then is each asked which value it is.
    """
    held = incoming(table)
    wrong = {column: text for column in table.columns if (text := _wrong(column))}
    every = " OR ".join(f"coalesce({text}, false)" for text in wrong.values())
    if wrong and connection.execute(f"SELECT 1 FROM {held} WHERE {every} LIMIT 1").fetchone():
        for column, text in wrong.items():
            shown = quoted(column.name) + ("::VARCHAR" if column.type == "TIMESTAMP" else "")
            if found := connection.execute(f"SELECT {shown} FROM {held} WHERE {text} LIMIT 1").fetchone():
                raise ValueError(
                    f"{column.name} in table {table.name} is {names.shown(found[0])}, which is out of range"
                )
    for column in table.columns:
        if "JSON" in column.comment:
            _require_json(connection, table, column)


def _wrong(column: Column) -> str:
    """Return the condition that a value of a column is out of range; empty if it may have any."""
    name = quoted(column.name)
    if column.type == "DOUBLE":
        return f"NOT (abs({name}) BETWEEN {SMALLEST} AND {LARGEST} OR {name} = 0)"
    if column.type == "BIGINT" and column.name != ANY_SEED:
        return f"{name} NOT BETWEEN -{LARGEST_COUNT} AND {LARGEST_COUNT}"
    if column.type == "TIMESTAMP":
        return f"{name} NOT BETWEEN TIMESTAMP '{EARLIEST}' AND TIMESTAMP '{latest()}'"
    return f"{name} NOT IN {DIRECTIONS}" if column.name == "direction" else ""


def _require_json(connection: DuckDBPyConnection, table: Table, column: Column) -> None:
    """Raise ValueError if a column has a text that is no JSON, is nested too deep, or holds a number that JSON lacks.

    Python reads only the texts that could be nested too deep or hold such a number, which DuckDB takes.
    """
    brackets = "length(text) - length(replace(replace(text, '[', ''), '{', ''))"
    doubtful = f"{brackets} > {plain.DEEPEST} OR regexp_matches(text, '(?i)nan|inf|[0-9]e')"
    name = quoted(column.name)
    # Most trials give equal answers, so each text is searched once: the aggregate keeps the filter behind the groups.
    found = connection.execute(
        f"SELECT text, json_valid(text) FROM (SELECT any_value({name}) AS text FROM {incoming(table)} GROUP BY {name})"
        f" WHERE NOT json_valid(text) OR {doubtful}"
    )
    for text, valid in found.fetchall():
        if not valid:
            raise ValueError(
                f"{column.name} in table {table.name} is {names.shown(text)}, which is out of range"
            )
        plain.require(json.loads(text))
