"""The manifest of an exported run: what the folder holds, and the bytes and sha256 of each of its files.

``bench export`` and ``bench export --publish`` write the same form; docs/publishing.md lists its files. A published
run has fewer: its tables are thinned, and its trials and query sets are left out.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from benchbook.declare import names
from benchbook.errors import RequestError, command
from benchbook.host import guarded
from benchbook.record import contributed, folder
from benchbook.record.tables import BY_NAME, SCHEMA_VERSION

FILE = "manifest.json"
KIND = "benchbook-run"
"""Marks a folder as an exported run, as other programs write manifests too."""
FOLDERS = ("declared", "queries", folder.TABLES_FOLDER, folder.TRIALS_FOLDER)
"""The folders of an export; any other one beside them holds the run of another machine (``contributed``)."""
NOTES = (".md", ".txt")
"""Endings of notes that people may keep beside an export. Benchbook neither reads nor removes them."""
KEYS = frozenset({
    "kind", "schema", "run_id", "experiment", "profile", "against_itself", "provenance", "published", "scrubbed",
    "left_out", "machine", "rows", "samples_a_series", "intervals_a_phase", "histograms_of_intervals", "files",
})  # fmt: skip
"""What a manifest states; a key that only looks like one of these must not be passed over."""
MOST_BYTES = 16 << 30
"""Bytes of all files of an export: a file without content can have any size, and would be read for hours."""
PUBLISHED_BYTES = 4 << 20
"""Bytes of all files of a published run; ``export --publish`` stays below half of it."""
LONGEST_FILE = 255
"""Characters of a file in a manifest; a published one has at most 60."""
BUFFER_BYTES = 1 << 20
_UNSAFE = "Benchbook never writes this. Do not use the folder, and get the run from a source that you trust."
_PLAIN = "[A-Za-z0-9][A-Za-z0-9._-]*"
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Entry:
    """One file of an export."""

    file: str
    """Its path below the folder, with slashes."""
    size_bytes: int
    sha256: str


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
    files: tuple[Entry, ...]
    rows: dict[str, int] | None
    """Rows of its tables by name; None if unknown."""
    machine: str | None = None
    """The name that its contributor gave to the machine; None for a run of the project."""
    text: bytes = b""
    """The manifest itself."""

    @property
    def trials(self) -> int | None:
        """Rows of its table ``trials``; None if unknown."""
        return (self.rows or {}).get("trials")

    @property
    def has_trials(self) -> bool:
        """True if it holds the folders of its trials, beside the tables."""
        return any(entry.file.endswith(f"/{folder.TRIAL_FILE}") for entry in self.files)


def write(where: Path, facts: dict[str, Any]) -> None:
    """Write the manifest of all files under ``where``, with ``facts`` before them."""
    paths = sorted(path for path in where.rglob("*") if path.is_file() and path != where / FILE)
    files = [
        {"file": path.relative_to(where).as_posix(), "bytes": path.stat().st_size, "sha256": sha256(path)}
        for path in paths
    ]
    folder.write_json(where / FILE, {"kind": KIND, "schema": SCHEMA_VERSION, **facts, "files": files})


def sha256(path: Path) -> str:
    """Return the sha256 of a regular file, in hexadecimal; raise OSError for anything else."""
    with guarded.regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checked(where: Path) -> Export:
    """Return the export in ``where`` after comparing each of its files with its digest.

    Raises RequestError as ``read`` does; if the manifest names a file outside the folder; if a file is missing, has
    changed, or is not in the manifest; and for links, pipes and devices.
    """
    found = read(where)
    _check(found)
    return found


def read(where: Path) -> Export:
    """Return the export in ``where`` as its manifest describes it.

    Raises RequestError if ``where`` is not an export, if its manifest is invalid, or a newer Benchbook wrote it.
    """
    if not (where / FILE).exists():
        raise _not_an_export(where)
    try:
        if (where / FILE).is_symlink():
            raise ValueError(f"{where / FILE} is a link; an export contains only files")
        stated, text = folder.read_text_object(where / FILE)
    except ValueError as error:
        raise RequestError(f"{error}.", "Copy the export again from its source.") from error
    schema = stated.get("schema")
    if (
        stated.get("kind") != KIND
        or not isinstance(schema, int)
        or isinstance(schema, bool)
        or not {"run_id", "experiment", "profile"} <= stated.keys()
    ):
        raise RequestError(
            f"{where / FILE} must have kind, schema, run_id, experiment and profile; at least one is missing or"
            " invalid.",
            f"Name a folder that `{command('export')}` wrote.",
        )
    if schema > SCHEMA_VERSION:
        raise RequestError(
            f"{where} was written by a newer Benchbook: its tables have version {schema}, and this Benchbook reads"
            f" versions up to {SCHEMA_VERSION}.",
            "Update Benchbook and run the command again.",
        )
    try:
        names.require(stated)
        if odd := sorted(stated.keys() - KEYS):
            raise ValueError(f"it states {names.shown(odd[0])}, which no manifest does")
        against_itself = stated.get("against_itself", False)
        if not isinstance(against_itself, bool):
            raise ValueError(f"against_itself is {names.shown(against_itself)}, not true or false")  # noqa: TRY004
        files, rows = tuple(_entries(stated.get("files"))), _rows(stated.get("rows"))
        machine = stated.get("machine")
        if "machine" in stated and not contributed.is_name(machine):
            raise ValueError(f"machine is {names.shown(machine)}, not the name of a machine")
    except ValueError as error:
        raise RequestError(f"{where / FILE}: {error}.", _UNSAFE) from error
    run_id, experiment, profile = (str(stated[key]) for key in ("run_id", "experiment", "profile"))
    return Export(where, run_id, experiment, profile, against_itself, schema, files, rows, machine, text)


def _entries(stated: Any) -> Iterator[Entry]:
    """Yield the files of a manifest; raise ValueError if one is invalid."""
    if not isinstance(stated, list):
        raise ValueError(f"files is {names.shown(stated)}, not a list")  # noqa: TRY004 - one error for all
    seen, total = set(), 0
    for one in stated:
        if not isinstance(one, dict):
            raise ValueError(f"files holds {names.shown(one)}, not an object")  # noqa: TRY004
        name, size, digest = (one.get(key) for key in ("file", "bytes", "sha256"))
        if not isinstance(name, str) or not isinstance(digest, str):
            raise ValueError(f"files holds {names.shown(one)} without file or sha256")  # noqa: TRY004
        if not is_below(name):
            raise ValueError(f"it names the file {names.shown(name)}, which lies outside the export")
        if not isinstance(size, int) or isinstance(size, bool) or size < 0 or not _SHA256.fullmatch(digest):
            raise ValueError(f"bytes or sha256 of the file {names.shown(name)} are invalid")
        if name == FILE or name in seen:
            raise ValueError(f"it names the file {names.shown(name)} twice")
        if (total := total + size) > MOST_BYTES:
            raise ValueError(f"its files have more than {MOST_BYTES >> 30} GiB")
        seen.add(name)
        yield Entry(name, size, digest)


def is_below(name: str) -> bool:
    r"""Return whether the path of a file stays below the folder it is relative to, whatever the system.

    Git reads files of its own in any folder, so these are no files of a run either.

    >>> is_below("tables/trials.parquet"), is_below("../x"), is_below("/x"), is_below("a//b"), is_below("a\\b")
    (True, False, False, False, False)
    >>> is_below("declared/.gitattributes"), is_below("trials/0000/config/.my.cnf")
    (False, True)
    """
    parts = name.split("/")
    plain = name.isprintable() and "\\" not in name and len(name) <= LONGEST_FILE
    return plain and not any(part in ("", ".", "..") or part.lower().startswith(".git") for part in parts)


def _rows(rows: Any) -> dict[str, int] | None:
    """Return the rows of each table; raise ValueError if their numbers are invalid."""
    if rows is None:
        return None
    if not isinstance(rows, dict) or not all(
        name in BY_NAME and isinstance(number, int) and not isinstance(number, bool) and number >= 0
        for name, number in rows.items()
    ):
        raise ValueError(f"rows is {names.shown(rows)}, not a number of rows for each table")
    return rows


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
    listed = {entry.file: entry for entry in export.files}
    found = set(held(export.folder))
    missing = [name for name in listed if name not in found]
    damaged = [
        name for name, entry in listed.items() if name in found and _differs(export.folder / name, entry)
    ]
    for wrong, problem in ((missing, "files are missing"), (damaged, "files have changed since the export")):
        if wrong:
            raise RequestError(
                f"{export.folder} is damaged: {problem}: {some(wrong)}.",
                "Copy the export again from its source.",
            )
    if more := sorted(name for name in found - listed.keys() if not is_note(name)):
        raise RequestError(
            f"{export.folder} holds files that its manifest does not name: {some(more)}.",
            "Move them out of the folder. If somebody sent them to you with the run, do not use it.",
        )


def _differs(path: Path, entry: Entry) -> bool:
    """Return whether a file is not that of the manifest: another one, unreadable, or removed since it was listed."""
    try:
        return path.stat().st_size != entry.size_bytes or sha256(path) != entry.sha256
    except OSError:
        return True


_PUBLISHED = re.compile(
    rf"run\.json|plan\.json|environment\.json|ro-crate-metadata\.json|README\.md|declared/{_PLAIN}\.toml"
    rf"|declared/published/{_PLAIN}\.csv|{folder.TABLES_FOLDER}/({'|'.join(BY_NAME)}|schema_version)\.parquet"
)
"""Files of a published run beside its manifest. A page among them would be a page of the project's site."""


def require_published(export: Export) -> None:
    """Raise RequestError if an export holds a file that no published run has."""
    size = sum(entry.size_bytes for entry in export.files)
    if size > PUBLISHED_BYTES:
        raise RequestError(
            f"{export.folder} has {size / 1e6:,.1f} MB; a published run has at most {PUBLISHED_BYTES / 1e6:.1f} MB.",
            f"Publish the run with `{command('export RUN --publish')}`, which thins its tables.",
        )
    if more := [entry.file for entry in export.files if not _PUBLISHED.fullmatch(entry.file)]:
        raise RequestError(
            f"{export.folder} holds files that a published run does not have: {some(more)}.",
            f"Publish the run with `{command('export RUN --publish')}`, which leaves them out.",
        )


def copy(export: Export, target: Path, wanted: Callable[[str], bool]) -> None:
    """Copy files of an export, and its manifest, into a folder; what is copied is what the manifest says.

    Somebody who can write to the folder may replace a file after it was checked. Raises RequestError for a file that
    is not the one of the manifest.
    """
    for entry in export.files:
        if not wanted(entry.file):
            continue
        place = target / entry.file
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as file:
                same = _copied(export.folder / entry.file, file, entry)
        except OSError as error:
            raise folder.cannot_write(place, error) from error
        if not same:
            raise RequestError(
                f"{export.folder} is damaged: files have changed since the export: {some([entry.file])}.",
                "Copy the export again from its source.",
            )
    folder.write_whole(target / FILE, export.text)


def _copied(path: Path, target: IO[bytes], entry: Entry) -> bool:
    """Copy a file if it is the one of the manifest; return whether it is."""
    digest, left = hashlib.sha256(), entry.size_bytes
    try:
        opened = guarded.regular(path)
    except OSError:
        return False
    with opened as file:
        while part := file.read(min(left + 1, BUFFER_BYTES)):
            if (left := left - len(part)) < 0:
                return False
            digest.update(part)
            target.write(part)
    return left == 0 and digest.hexdigest() == entry.sha256


def has_label(trial: Any) -> bool:
    """Return whether a planned trial, which may be of somebody else, is one of an A/A run."""
    levels = trial.get("levels") if isinstance(trial, dict) else None
    return isinstance(levels, dict) and "aa" in levels


def is_note(name: str) -> bool:
    """Return whether a file that the manifest does not name is a person's note directly in the folder.

    >>> is_note("NOTES.md"), is_note("evil.qmd"), is_note("declared/NOTES.md")
    (True, False, False)
    """
    return "/" not in name and name.endswith(NOTES)


def some(found: Sequence[str]) -> str:
    """Return the first three names of files, fit to be shown, and the number of others."""
    first = ", ".join(name if name.isprintable() else names.shown(name) for name in found[:3])
    return first + (f" and {len(found) - 3} more" if len(found) > 3 else "")


def held(where: Path) -> Iterator[str]:
    """Yield every file of an export's folder but its manifest, relative to the folder.

    Raises RequestError for a link, a pipe and a device.
    """
    folders = [""]
    while folders:
        inside = folders.pop()
        try:
            with os.scandir(where / inside) as entries:
                here = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            raise RequestError(f"{where / inside} cannot be read: {error.strerror or error}.") from error
        for entry in here:
            name = f"{inside}{entry.name}"
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                folders.append(f"{name}/")
            elif what := guarded.kind(mode):
                raise RequestError(
                    f"{some([str(where / name)])} is {what}; an export contains only files.", _UNSAFE
                )
            elif name != FILE:
                yield name
