"""Read an export of a run back into a results folder: whole, checked, and never over another run."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from benchbook.errors import RequestError
from benchbook.record import folder, ingest, manifest
from benchbook.record.export import COPIED
from benchbook.record.folder import Say, tell


def run(export: Path, results: Path, say: Say = tell) -> str:
    """Bring the run of an export into ``results`` and its database; return its run_id.

    A run that is there already with the same content is only entered into the database again.
    Raises RequestError where the export is damaged or of a newer schema, where it holds no trials, or where
    another run of the same id is there.
    """
    stated = manifest.read(export)
    run_id = str(stated["run_id"])
    if not run_id or "/" in run_id or run_id.startswith("."):
        raise RequestError(f'{export} states the run_id "{run_id}", which is none.', "Do not use it.")
    files = [entry for entry in stated["files"] if str(entry["file"]).split("/", 1)[0] in COPIED]
    if not any(str(entry["file"]).endswith(f"/{folder.TRIAL_FILE}") for entry in files):
        raise RequestError(
            f"{export} holds no trials, so it is published data and not an export.",
            "Export the run itself with bench export RUN; the tables here can be read by DuckDB as they are.",
        )
    place = results / "runs" / run_id
    if place.exists():
        _same(place, files, export)
    else:
        _copy(export, place, files)
    entered = ingest.run(results, place, say)
    say(f"{run_id}: {entered} trials are in {results}.")
    return run_id


def _copy(export: Path, place: Path, files: list[dict[str, Any]]) -> None:
    """Copy the run's own files and rename the folder into place."""
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        for entry in files:
            target = beside / entry["file"]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(export / entry["file"], target)
        beside.rename(place)
    except OSError as error:
        raise folder.cannot_write(place, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _same(place: Path, files: list[dict[str, Any]], export: Path) -> None:
    """Raise RequestError where the run that is there is not the one of the export."""
    differing = [
        entry["file"]
        for entry in files
        if not (place / entry["file"]).is_file() or manifest.sha256(place / entry["file"]) != entry["sha256"]
    ]
    if differing:
        raise RequestError(
            f"{place} is there already and is not what {export} holds: {differing[0]} differs"
            f"{f' and {len(differing) - 1} other files' if len(differing) > 1 else ''}. Nothing was changed.",
            "Import into another folder with --results DIR (an export without private names differs from the run"
            " that it was made of).",
        )
