"""The manifest of an exported run: what the folder holds, and the bytes and sha256 of each of its files.

``bench export`` and ``bench export --publish`` write the same form; docs/publishing.md lists its files. A published
run has fewer: its tables are thinned, and its trials and query sets are left out.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from benchbook.errors import RequestError, command
from benchbook.record import folder
from benchbook.record.tables import SCHEMA_VERSION

FILE = "manifest.json"
KIND = "benchbook-run"
"""Marks a folder as an exported run, as other programs write manifests too."""
_UNSAFE = "Benchbook never writes this. Do not use the folder, and get the run from a source that you trust."


@dataclass(frozen=True)
class Export:
    """The folder of an exported run."""

    folder: Path
    run_id: str
    experiment: str
    profile: str
    against_itself: bool
    """True if it is an A/A run: it has no page, and gives the noise floor of the others."""
    schema: int
    """Version of its tables."""
    manifest: dict[str, Any]

    @property
    def files(self) -> list[dict[str, Any]]:
        """Name, bytes and sha256 of each file."""
        return list(self.manifest.get("files") or [])

    @property
    def has_trials(self) -> bool:
        """True if it holds the folders of its trials, beside the tables."""
        return any(str(entry.get("file")).endswith(f"/{folder.TRIAL_FILE}") for entry in self.files)


def write(where: Path, facts: dict[str, Any]) -> None:
    """Write the manifest of all files under ``where``, with ``facts`` before them."""
    paths = sorted(path for path in where.rglob("*") if path.is_file() and path != where / FILE)
    files = [
        {"file": path.relative_to(where).as_posix(), "bytes": path.stat().st_size, "sha256": sha256(path)}
        for path in paths
    ]
    folder.write_json(where / FILE, {"kind": KIND, "schema": SCHEMA_VERSION, **facts, "files": files})


def sha256(path: Path) -> str:
    """Return the sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checked(where: Path) -> Export:
    """Return the export in ``where`` after comparing each of its files with its digest.

    Raises RequestError as ``read`` does, and if the manifest names a file outside the folder, or a file is missing
    or has changed.
    """
    found = read(where)
    _check(found)
    return found


def read(where: Path) -> Export:
    """Return the export in ``where`` as its manifest describes it.

    Raises RequestError if ``where`` is not an export or a newer Benchbook wrote it.
    """
    if not (where / FILE).is_file():
        raise _not_an_export(where)
    try:
        stated = folder.read_object(where / FILE)
    except ValueError as error:
        raise RequestError(f"{error}.", "Copy the export again from its source.") from error
    schema = stated.get("schema")
    texts = [stated.get(key) for key in ("run_id", "experiment", "profile")]
    if not isinstance(schema, int) or not all(isinstance(text, str) and text for text in texts):
        raise RequestError(
            f"{where / FILE} must have schema, run_id, experiment and profile; at least one is missing or invalid.",
            f"Name a folder that `{command('export')}` wrote.",
        )
    run_id, experiment, profile = map(str, texts)
    if "/" in run_id or run_id.startswith("."):
        raise RequestError(f'{where / FILE}: run_id is "{run_id}", which is not the name of a run.', _UNSAFE)
    if schema > SCHEMA_VERSION:
        raise RequestError(
            f"{where} was written by a newer Benchbook: its tables have version {schema}, and this Benchbook reads"
            f" versions up to {SCHEMA_VERSION}.",
            "Update Benchbook and run the command again.",
        )
    return Export(where, run_id, experiment, profile, bool(stated.get("against_itself")), schema, stated)


def below(where: Path) -> list[Path]:
    """Return the folders of exported runs one or two levels below ``where``."""
    return sorted(path.parent for pattern in (f"*/{FILE}", f"*/*/{FILE}") for path in where.glob(pattern))


def _not_an_export(where: Path) -> RequestError:
    if not where.is_dir():
        problem = "is a file" if where.exists() else "does not exist"
        return RequestError(
            f"{where} {problem}, so it is not the folder of a run.",
            f"Name a folder that `{command('export')}` wrote (unpack an archive first); `{command('list runs')}` shows"
            " the runs here.",
        )
    if runs := below(where):
        number = "1 run is" if len(runs) == 1 else f"{len(runs)} runs are"
        return RequestError(
            f"{where} is not the folder of a single run: it has no {FILE}, but {number} in its subfolders.",
            f"Name one of them, such as {runs[0]}",
        )
    return RequestError(
        f"{where} is not the folder of a run: it has no {FILE}.",
        f"Name a folder that `{command('export')}` wrote; `{command('list runs')}` shows the runs here.",
    )


def _check(export: Export) -> None:
    """Compare every file with its digest; raise RequestError that names those that differ."""
    missing, damaged = [], []
    for entry in export.files:
        name = str(entry.get("file"))
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts or not pure.parts:
            raise RequestError(
                f'{export.folder / FILE} names the file "{name}", which lies outside the export.', _UNSAFE
            )
        path = export.folder / pure
        if any(part.is_symlink() for part in (path, *list(path.parents)[: len(pure.parts) - 1])):
            raise RequestError(f"{path} is a link; an export contains only files.", _UNSAFE)
        if not path.is_file():
            missing.append(name)
        elif sha256(path) != entry.get("sha256"):
            damaged.append(name)
    for names, problem in ((missing, "files are missing"), (damaged, "files have changed since the export")):
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            raise RequestError(
                f"{export.folder} is damaged: {problem}: {', '.join(names[:3])}{more}.",
                "Copy the export again from its source.",
            )
