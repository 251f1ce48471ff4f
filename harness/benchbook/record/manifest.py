"""The manifest of an export: what it is, and the bytes and sha256 of each of its files."""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePosixPath
from typing import Any

from benchbook.errors import RequestError
from benchbook.record import folder
from benchbook.record.tables import SCHEMA_VERSION

FILE = "manifest.json"
KIND = "benchbook-run"
"""Says in the manifest that a folder is an export of a run and not something else with a manifest."""


def write(where: Path, facts: dict[str, Any]) -> dict[str, Any]:
    """Write the manifest of all files under ``where``, with ``facts`` before them; return it."""
    files = []
    for path in sorted(path for path in where.rglob("*") if path.is_file()):
        name = path.relative_to(where).as_posix()
        if name != FILE:
            files.append({"file": name, "bytes": path.stat().st_size, "sha256": sha256(path)})
    manifest = {"kind": KIND, "schema": SCHEMA_VERSION, **facts, "files": files}
    folder.write_json(where / FILE, manifest)
    return manifest


def sha256(path: Path) -> str:
    """Return the sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read(where: Path) -> dict[str, Any]:
    """Return the manifest of the export in ``where``, with every file of it checked.

    Raises RequestError where ``where`` is no export, was written by a newer Benchbook, names a file outside of
    itself, or holds a file that is missing or is not what was exported.
    """
    if not (where / FILE).is_file():
        raise RequestError(
            f"{where} is no export of a run: it has no {FILE}.",
            "Name the folder that `bench export` wrote; a packed one has to be unpacked first.",
        )
    try:
        manifest = folder.read_object(where / FILE)
    except ValueError as error:
        raise RequestError(f"{error}.", "Copy the export again from where it was made.") from error
    schema = manifest.get("schema")
    if not isinstance(schema, int) or not isinstance(manifest.get("run_id"), str):
        raise RequestError(
            f'{where / FILE} states no "schema" or no "run_id", so it is no export of a run.',
            "Name the folder that `bench export` wrote.",
        )
    if schema > SCHEMA_VERSION:
        raise RequestError(
            f"{where} was written by a newer Benchbook: its tables are of version {schema}, and this one knows"
            f" {SCHEMA_VERSION}.",
            "Update Benchbook and import again.",
        )
    _check(where, manifest)
    return manifest


def _check(where: Path, manifest: dict[str, Any]) -> None:
    """Compare every file with its digest; raise RequestError that names those that differ."""
    missing, damaged = [], []
    for entry in manifest.get("files") or []:
        name = str(entry.get("file"))
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts or not pure.parts:
            raise RequestError(
                f'{where / FILE} names the file "{name}", which lies outside of the export.', "Do not use it."
            )
        path = where / pure
        if any(part.is_symlink() for part in (path, *list(path.parents)[: len(pure.parts) - 1])):
            raise RequestError(f"{path} is a link; an export holds only files.", "Do not use it.")
        if not path.is_file():
            missing.append(name)
        elif sha256(path) != entry.get("sha256"):
            damaged.append(name)
    for names, words in ((missing, "lacks"), (damaged, "has other bytes than were exported in")):
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            raise RequestError(
                f"{where} is damaged: it {words} {', '.join(names[:3])}{more}.",
                "Copy the export again from where it was made.",
            )
