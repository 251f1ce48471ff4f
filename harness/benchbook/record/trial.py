"""The model of ``trial.json``, checked on reading so that later stages can rely on it.

Fields that are not named here are kept unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from benchbook.declare import names
from benchbook.host import guarded
from benchbook.record import evidence, folder
from benchbook.record.check import Kind
from benchbook.record.folder import Say, tell

SCHEMA = 1
"""Version of ``trial.json``."""

Count = Annotated[int, Field(ge=0, lt=2**63)]
Text = str | None
Number = Annotated[float, Field(ge=-1e30, le=1e30)] | None
"""A quantity; no computer has a larger one, and sums and squares of others stay finite."""

Status = Literal["ok", "failed", "skipped", "invalid"]

_STRICT = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)


def moment(text: str) -> datetime:
    """Return an ISO 8601 time as UTC without a zone, the form that the database keeps."""
    read = datetime.fromisoformat(text)
    return read.astimezone(UTC).replace(tzinfo=None) if read.tzinfo else read


@with_config(_STRICT)
class Phase(TypedDict):
    """One phase of a trial; times in seconds, the start since the trial's start."""

    phase: str
    workload: Text
    position: Count
    started_seconds: Number
    duration_seconds: Number
    timed: bool


@with_config(_STRICT)
class Measurement(TypedDict):
    """One number, with its unit and which direction is better."""

    phase: str
    metric: str
    value: Number
    unit: str
    direction: Literal["higher", "lower", "none"]


@with_config(_STRICT)
class Failure(TypedDict):
    """Operations of a phase that failed in one way."""

    phase: str
    kind: str
    status: NotRequired[str | int | None]
    message: NotRequired[Text]
    operations: NotRequired[Count | None]
    rows: NotRequired[Count | None]


@with_config(_STRICT)
class Check(TypedDict):
    """One check outside the timed phases."""

    kind: NotRequired[Kind]
    name: str
    expected: NotRequired[Any]
    found: NotRequired[Any]
    ok: bool


@with_config(_STRICT)
class Digest(TypedDict):
    """One file that enters the database, as it was when the trial ended."""

    bytes: Count
    sha256: str


@with_config(_STRICT)
class Trial(TypedDict):
    """One trial; the comments of table ``trials`` say what each field means."""

    schema: NotRequired[int]

    trial_id: str
    run_id: str
    experiment: str
    profile: str
    system: str
    arm: NotRequired[Text]
    storage: NotRequired[Text]
    cell: str
    levels: dict[str, Any]
    block: Count
    position: Count
    index: Count
    status: Status
    reason: NotRequired[Text]
    started_at: NotRequired[Text]
    ended_at: NotRequired[Text]
    duration_seconds: NotRequired[Number]
    start_seconds: NotRequired[Number]
    overhead_seconds: NotRequired[Number]
    telemetry_cost_seconds: NotRequired[Number]
    version_reported: NotRequired[Text]
    program: NotRequired[dict[str, Any] | None]
    config_digest: NotRequired[Text]
    dataset_digest: NotRequired[Text]
    queries_digest: NotRequired[Text]
    cache_state: NotRequired[Text]
    data_to_memory: NotRequired[Number]
    confinement: NotRequired[dict[str, Any] | None]
    storage_facts: NotRequired[dict[str, Any] | None]
    load_before: NotRequired[dict[str, Any] | None]
    unmeasured: NotRequired[dict[str, str] | None]
    placement: NotRequired[dict[str, Any] | None]
    files: NotRequired[dict[str, Digest] | None]
    phases: list[Phase]
    measurements: list[Measurement]
    errors: list[Failure]
    checks: list[Check]


@cache
def _adapter() -> TypeAdapter[Trial]:
    return TypeAdapter(Trial)


def read(where: Path, *, whole: bool = False) -> Trial:
    """Read the trial in a trial folder; with ``whole``, compare its other files with their digests.

    Raises ValueError that names the file if it is truncated, is not JSON, lacks a field, has a field of a wrong
    type, or names another trial than its folder. Trials of an earlier Benchbook state no digests.
    """
    path = where / folder.TRIAL_FILE
    try:
        content = guarded.contents(path, guarded.RESULT_BYTES)
        odd = [one.name for one in where.iterdir() if not one.is_file() and not one.is_dir()]
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from error
    if odd:  # reading a named pipe would wait for ever, and reading a device would never end
        raise ValueError(f"{where / odd[0]} is not a regular file")
    try:
        trial = _adapter().validate_json(content)
        for key in ("started_at", "ended_at"):
            if value := trial.get(key):
                moment(str(value))
    except ValidationError as error:
        _refuse_newer(path, content)
        raise ValueError(f"{path} is not a complete trial: {_first(error)}") from error
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{path} is not a complete trial: {error}") from error
    if trial.get("schema", SCHEMA) != SCHEMA:
        _refuse_newer(path, content)
    _require_identity(path, trial)
    if whole and (stated := trial.get("files")) is not None:
        evidence.verify(where, stated)
    return trial


def _require_identity(path: Path, trial: Trial) -> None:
    """Raise ValueError unless a trial is the one of its folder, and its names are names."""
    run_id, number = path.parent.parent.parent.name, path.parent.name
    expected = f"{run_id}/{number}"
    if (trial["trial_id"], trial["run_id"]) != (expected, run_id):
        raise ValueError(f'{path} says it is trial {names.shown(trial["trial_id"])}, not "{expected}"')
    if f"{trial['index']:04d}" != number:
        raise ValueError(f"{path} says it is trial number {trial['index']}, not {number}")
    for key in ("experiment", "profile", "system", "arm", "storage"):
        if trial.get(key) is not None and not names.is_name(trial.get(key)):
            raise ValueError(f"{path}: {key} is {names.shown(trial.get(key))}, which is not the name of one")


def _refuse_newer(path: Path, content: bytes) -> None:
    """Raise ValueError if a newer Benchbook wrote a ``trial.json``."""
    try:
        schema = json.loads(content)["schema"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    if isinstance(schema, int) and schema > SCHEMA:
        raise ValueError(
            f"{path} was written by a newer Benchbook: its schema is {schema}, and this one reads up to {SCHEMA}"
        )


def read_all(run: Path, say: Say = tell, *, whole: bool = False) -> Iterator[Trial]:
    """Yield the trials of a run as ``read`` does, in order; report corrupt ones by name and leave them unchanged."""
    for where in folder.trial_folders(run):
        try:
            yield read(where, whole=whole)
        except ValueError as error:
            say(f"Left out: {error}.")


def _first(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    place = ".".join(str(part) for part in found[0]["loc"])
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{place + ': ' if place else ''}{found[0]['msg']}{more}"
