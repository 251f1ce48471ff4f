"""Export a run as a research object, and import one: complete, checked by digest, never over another run."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from benchbook.errors import BenchbookError, RequestError
from benchbook.record import crate, database, folder, ingest, runs
from benchbook.record.folder import Say, tell
from benchbook.record.private import Scrubber, scrubber
from benchbook.record.tables import SCHEMA_VERSION, TABLES, Table, literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# The manifest of an export: what it is, and the bytes and sha256 of each of its files.

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


# Copy one run out of a results folder as a research object: everything that rebuilds it, and what describes it.
#
# An export holds the run's own files (plan, facts, declarations, query sets, trials with their configuration and
# logs), the same as Parquet tables, the report, the environment, RO-Crate metadata and a digest of every file.

# ruff: noqa: S608 - names of tables come from record.tables, paths are quoted


MANIFEST = FILE
COPIED = (folder.RUN_FILE, folder.PLAN_FILE, "queries", "declared", folder.TRIALS_FOLDER)
"""The parts of a run folder that an import needs; the rest of an export is made from them."""
ENVIRONMENT = "environment.json"
Render = Callable[[Path, str], Path]
"""Renders the report of a run: results folder and run_id to the path of the file."""


def export_run(
    results: Path,
    run_id: str,
    output: Path,
    *,
    overwrite: bool = False,
    private: bool = False,
    render: Render | None = None,
    say: Say = tell,
) -> Path:
    """Write the run to the folder ``output`` and return it. The folder appears whole or not at all.

    Names of user and host and private paths are taken out, unless ``private``. ``render`` makes the report
    from what is exported; without it there is none.
    Raises RequestError where the run does not exist, where ``output`` holds files and ``overwrite`` is
    not set or is not the folder of an export, or where it cannot be written.
    """
    found = runs.find(results, run_id, say)
    _may_write(output, overwrite)
    beside = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        copy(found.path, beside, None if private else scrubber())
        with staged(beside, found.run_id, say) as stage:
            rows = tables(stage, found.run_id, beside / "tables")
            if render:
                _report(render, stage, found.run_id, beside, say)
        facts = folder.read_object(beside / folder.RUN_FILE) if (beside / folder.RUN_FILE).exists() else {}
        environment = {key: facts.get(key) for key in ("host", "controls", "provenance", "programs")}
        folder.write_json(beside / ENVIRONMENT, environment)
        crate.write(beside, found, facts, rows)
        about = {"run_id": found.run_id, "experiment": found.experiment, "profile": found.profile}
        write(beside, {**about, "scrubbed": not private, "rows": rows})
        _put(beside, output)
    except OSError as error:
        raise folder.cannot_write(output, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return output


def copy(source: Path, target: Path, private: Scrubber | None) -> None:
    """Copy what an import needs of a run folder; with a scrubber, every file through it."""
    for name in COPIED:
        for path in sorted((source / name).rglob("*")) if (source / name).is_dir() else [source / name]:
            if path.is_symlink() or not path.is_file() or _in_the_making(path, source):
                continue
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            if private:
                private.file(path, place)
            else:
                shutil.copyfile(path, place)


def _in_the_making(path: Path, run: Path) -> bool:
    """Say whether a file belongs to a trial that did not come to its end, or was kept aside."""
    parts = path.relative_to(run).parts
    if parts[0] == folder.TRIALS_FOLDER and path.suffix == ".part":  # what a killed client left
        return True
    return parts[0] == folder.TRIALS_FOLDER and not (run.joinpath(*parts[:2]) / folder.TRIAL_FILE).is_file()


@contextlib.contextmanager
def staged(copied: Path, run_id: str, say: Say = tell) -> Iterator[Path]:
    """Give a results folder that holds the copied run alone, with its database, for the length of a block."""
    with tempfile.TemporaryDirectory(prefix="benchbook-export-") as scratch:
        stage = Path(scratch)
        (stage / "runs").mkdir()
        (stage / "runs" / run_id).symlink_to(copied.resolve(), target_is_directory=True)
        ingest.run(stage, stage / "runs" / run_id, say)
        yield stage


def tables(results: Path, run_id: str, output: Path) -> dict[str, int]:
    """Write every table's rows of a run as Parquet; return table → rows."""
    output.mkdir(parents=True, exist_ok=True)
    with database.open(results, read_only=True) as connection:
        return {table.name: _table(connection, table, run_id, output) for table in TABLES}


def _table(connection: DuckDBPyConnection, table: Table, run_id: str, output: Path) -> int:
    return parquet(
        connection, f"SELECT * FROM {table.name} {of_run(table, run_id)}", output / f"{table.name}.parquet"
    )


def of_run(table: Table, run_id: str) -> str:
    """Return the condition that chooses the rows of one run from a table."""
    columns = {column.name for column in table.columns}
    if "run_id" in columns:
        return f"WHERE run_id = {literal(run_id)}"
    if "trial_id" in columns:
        return f"WHERE trial_id IN (SELECT trial_id FROM trials WHERE run_id = {literal(run_id)})"
    return ""


def parquet(connection: DuckDBPyConnection, select: str, path: Path) -> int:
    """Write rows as Parquet, ordered, so that the same rows give the same bytes; return how many.

    Long texts that repeat (answers, of which all trials of a system give the same) are stored once.
    """
    written = connection.execute(
        f"COPY (SELECT * FROM ({select}) ORDER BY ALL) TO {literal(str(path))} (FORMAT parquet,"
        " COMPRESSION zstd, COMPRESSION_LEVEL 9, DICTIONARY_SIZE_LIMIT 100000,"
        " STRING_DICTIONARY_PAGE_SIZE_LIMIT 67108864)"
    ).fetchone()
    return int(written[0]) if written else 0


def _report(render: Render, stage: Path, run_id: str, output: Path, say: Say) -> None:
    try:
        made = render(stage, run_id)
    except BenchbookError as error:
        say(f"The export has no report: {error}")
        return
    if made.resolve().parent != output.resolve():
        shutil.copyfile(made, output / made.name)


def _may_write(output: Path, overwrite: bool) -> None:
    folder.be_a_folder(output, "--output")
    if not output.exists() or not any(output.iterdir()):
        return
    if not overwrite:
        raise RequestError(f"{output} already holds files.", "Name another folder, or add --overwrite.")
    if not (output / MANIFEST).is_file():
        raise RequestError(
            f"{output} holds files and no {MANIFEST}, so it is no earlier export and is not overwritten.",
            "Name another folder.",
        )


def _put(beside: Path, output: Path) -> None:
    """Move the finished folder into place, and an earlier export out of it."""
    earlier = output.with_name(f".{output.name}.{os.getpid()}.earlier")
    if output.exists():
        output.rename(earlier)
    try:
        beside.rename(output)
    except OSError:
        with contextlib.suppress(OSError):
            earlier.rename(output)
        raise
    shutil.rmtree(earlier, ignore_errors=True)


# Read an export of a run back into a results folder: whole, checked, and never over another run.


def import_run(export: Path, results: Path, say: Say = tell) -> str:
    """Bring the run of an export into ``results`` and its database; return its run_id.

    A run that is there already with the same content is only entered into the database again.
    Raises RequestError where the export is damaged or of a newer schema, where it holds no trials, or where
    another run of the same id is there.
    """
    stated = read(export)
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
        if not (place / entry["file"]).is_file() or sha256(place / entry["file"]) != entry["sha256"]
    ]
    if differing:
        raise RequestError(
            f"{place} is there already and is not what {export} holds: {differing[0]} differs"
            f"{f' and {len(differing) - 1} other files' if len(differing) > 1 else ''}. Nothing was changed.",
            "Import into another folder with --results DIR (an export without private names differs from the run"
            " that it was made of).",
        )
