"""A trial's or run's JSON turned into rows of the tables, and rows into Arrow tables for DuckDB."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from benchbook.record.batch import arrow_types
from benchbook.record.tables import BY_NAME
from benchbook.record.trial import moment

if TYPE_CHECKING:
    import pyarrow as pa

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
