"""Read ``trial.json``, checked so that later stages can rely on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from benchbook.declare import names
from benchbook.declare.toml import required
from benchbook.host import guarded
from benchbook.record import evidence, folder
from benchbook.record.folder import Say, tell
from benchbook.record.trial_record import SCHEMA, Trial


def moment(text: str) -> datetime:
    """Return an ISO 8601 time as UTC without a zone, the form that the database keeps."""
    read = datetime.fromisoformat(text)
    return read.astimezone(UTC).replace(tzinfo=None) if read.tzinfo else read


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
    found = error.errors(include_url=False)
    place = ".".join(str(part) for part in found[0]["loc"])
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    what = required(found[0]) or found[0]["msg"]
    return f"{place + ': ' if place else ''}{what}{more}"
