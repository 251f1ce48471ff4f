"""The record of one trial, ``trial.json``: the only definition of its fields.

Fields that are not named here are kept unchanged. ``schema.sql`` has the columns of the same names.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from benchbook.record.check import Kind

SCHEMA = 1
"""Version of ``trial.json``."""

Count = Annotated[int, Field(ge=0, lt=2**63)]
Text = str | None
Number = Annotated[float, Field(ge=-1e30, le=1e30)] | None
"""A quantity; no computer has a larger one, and sums and squares of others stay finite."""

Status = Literal["ok", "failed", "skipped", "invalid"]

_STRICT = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)


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
