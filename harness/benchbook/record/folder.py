"""The folders of runs and trials, which hold the results: the database is only filled from them.

Every JSON file is written beside its place and renamed into it, so a reader finds a whole file or none, whatever
happens to the writer. ``trial.json`` is written last: a trial exists if that file does.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.errors import RequestError
from benchbook.host import guarded, temporary
from benchbook.host.terminal import visible
from benchbook.host.texts import parse_json
from benchbook.record import evidence, plain

if TYPE_CHECKING:
    from benchbook.record.trial_record import Trial

Say = Callable[[str], None]
"""Takes a sentence for the user."""

TRIAL_FILE = "trial.json"
TRIALS_FOLDER = "trials"
RUN_FILE = "run.json"
PLAN_FILE = "plan.json"
TABLES_FOLDER = "tables"
"""Parquet files of every table: what a published run has in place of its trials."""

FULL_OR_FORBIDDEN = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR}
)
"""Errors of a folder that takes no more: full, read-only or forbidden."""


LONGEST_NAME, LONGEST_PATH = 255, 3000
"""Bytes in the path of a folder; Linux allows 4,096 for a path, and the folder holds others."""


def tell(sentence: str) -> None:
    """Print a sentence on standard error."""
    sys.stderr.write(f"{visible(sentence)}\n")  # also while rich draws a live line
    sys.stderr.flush()


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` as JSON at ``path``: whole, or not at all.

    Raises RequestError if the folder cannot be written or the disk is full, and ValueError for a value that JSON
    cannot hold (such as NaN), before anything is written.
    """
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    try:
        content = text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, in a text of a server or the name of a file
        content = json.dumps(parse_json(text), indent=1, ensure_ascii=False, allow_nan=False).encode()
    write_whole(path, content + b"\n")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place, sync it to the disk, and rename it into place."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.unlink(missing_ok=True)
            with beside.open("xb") as file:  # follows no link that somebody left under this name
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            beside.rename(path)
        except BaseException:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
            raise
        _sync(path.parent)  # the rename survives a loss of power
    except OSError as error:
        raise cannot_write(path, error) from error


def require_folder(named: str | Path, option: str) -> None:
    """Raise RequestError if what ``option`` names is empty, no name, too long, a file or below one."""
    path = Path(named)
    if not str(named):
        raise RequestError(f"{option} is empty.", f"Name a folder, existing or new: {option} DIR.")
    try:
        name = str(path.absolute()).encode()
    except UnicodeEncodeError:
        raise RequestError(
            f"{option} {path}: the name is not UTF-8 text.", f"Name another folder: {option} DIR."
        ) from None
    if (
        b"\0" in name
        or len(name) > LONGEST_PATH
        or any(len(part) > LONGEST_NAME for part in name.split(b"/"))
    ):
        raise RequestError(
            f"{option} {str(path)[:60]}…: the path is too long: at most {LONGEST_NAME} bytes for each name and"
            f" {LONGEST_PATH} for all are allowed.",
            f"Name another folder: {option} DIR.",
        )
    if file := _file_in_the_way(path):
        raise RequestError(
            f"{option} {path}: {file} is a file, not a folder.",
            f"Name a folder, existing or new: {option} DIR.",
        )


def _file_in_the_way(path: Path) -> Path | None:
    # os.path returns False where Path raises (no permission); the write that follows reports that
    files = (place for place in (path, *path.parents) if os.path.exists(place) and not os.path.isdir(place))  # noqa: PTH110, PTH112
    return next(files, None)


def cannot_write(path: Path, error: OSError) -> RequestError:
    """Return the error for a file that cannot be written, with the next step."""
    if isinstance(error, NotADirectoryError) and (file := _file_in_the_way(path.parent)):
        return RequestError(
            f"{path} cannot be written: {file} is a file, not a folder.",
            "Move the file away, or name another folder: --results DIR, or for `site` and `export` --output DIR.",
        )
    return RequestError(
        f"{path} cannot be written: {error.strerror or error}.",
        temporary.space_hint(
            path,
            "Free some space, make the folder writable, or name another folder: --results DIR, or for `site` and"
            " `export` --output DIR.",
        ),
    )


def write_trial(folder: Path, trial: Trial) -> Trial:
    """Write ``trial.json`` into a trial's folder, which makes the trial exist; call it last. Return what it says.

    Syncs the trial's other files to the disk first, and states their digests. A trial fails if links are among them.
    Raises the errors of ``write_json``.
    """
    try:
        if os.path.lexists(folder) and (foreign := evidence.remove_foreign(folder)):
            why = (
                f"{', '.join(foreign[:3])} in the folder of the trial was replaced by a link or something else that"
                " Benchbook does not make, and was removed."
            )
            before = f" {trial['reason']}" if trial.get("reason") else ""
            trial = {**trial, "status": "failed", "reason": why + before}
        for path in evidence.files(folder):
            # An ok trial with half a line is corrupt, and is run again.
            if path.suffix == ".jsonl" and trial.get("status") != "ok":
                _end_with_a_whole_line(path)
            _sync(path)
        stated = evidence.state(folder)
    except OSError as error:
        raise cannot_write(Path(error.filename or folder), error) from error
    trial = {**trial, "files": stated}
    write_json(folder / TRIAL_FILE, trial)
    return trial


def _end_with_a_whole_line(path: Path) -> None:
    """Cut off half a last line, which a full disk leaves, so that a failed trial is readable."""
    with path.open("rb+") as file:
        content = file.read()
        if not content.endswith(b"\n"):
            file.truncate(content.rfind(b"\n") + 1)


def from_tables(run: Path) -> bool:
    """Return whether a run's folder holds tables in place of trials, as a published run does."""
    return (run / TABLES_FOLDER).is_dir() and not (run / TRIALS_FOLDER).is_dir()


def trial_folders(run: Path) -> list[Path]:
    """Return the folders of the trials of a run that exist (whole or corrupt), in order."""
    return [run / TRIALS_FOLDER / name for name in trial_names(run)]


def trial_names(run: Path) -> list[str]:
    """Return the names of ``trial_folders``; for thousands of trials this is faster than their paths."""
    where = str(run / TRIALS_FOLDER)
    try:
        names = os.listdir(where)  # noqa: PTH208 - paths are what is slow
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []
    return sorted(name for name in names if os.path.exists(f"{where}/{name}/{TRIAL_FILE}"))  # noqa: PTH110


def run_folders(results: Path) -> list[Path]:
    """Return the folders of a results folder's runs that have a plan or facts, by name."""
    try:
        found = list((results / "runs").iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(path for path in found if (path / PLAN_FILE).exists() or (path / RUN_FILE).exists())


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object; raise ValueError with a sentence if the file does not hold a whole one of plain values."""
    return read_text_object(path)[0]


def read_text_object(path: Path) -> tuple[dict[str, Any], bytes]:
    """Return the same with the text that it was read from."""
    try:
        text = guarded.contents(path, guarded.RESULT_BYTES)
        value = json.loads(text, object_pairs_hook=plain.once)
        plain.require(value)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{path} holds {type(value).__name__}, not an object")  # noqa: TRY004 - one error for all
    return value, text


def _sync(path: Path) -> None:
    """Sync a file's content, or a folder's entries, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def write_failures_explained(results: Path) -> Iterator[None]:
    """Turn a full, forbidden or removed results folder into a RequestError that names it and the next step."""
    try:
        yield
    except OSError as error:
        missing = Path(error.filename) if isinstance(error, FileNotFoundError) and error.filename else None
        if missing is not None and missing.is_relative_to(results):
            raise RequestError(
                f"{error.filename} was removed while Benchbook was working in {results}.",
                "Start the run again, and leave the folder alone until it ends.",
            ) from None
        if error.errno not in FULL_OR_FORBIDDEN:
            raise
        raise cannot_write(Path(error.filename or results), error) from None
