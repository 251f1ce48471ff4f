"""Copy one run out of a results folder: its tables as Parquet, its declarations, a digest of every file."""

# ruff: noqa: S608 - names of tables come from record.tables, paths are quoted

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.errors import RequestError
from benchbook.record import database, folder, runs
from benchbook.record.ddl import literal
from benchbook.record.folder import Say, tell
from benchbook.record.tables import SCHEMA_VERSION, TABLES, Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MANIFEST = "manifest.json"
_COPIED = (folder.RUN_FILE, folder.PLAN_FILE, "queries", "declared")


def run(results: Path, run_id: str, output: Path, *, overwrite: bool = False, say: Say = tell) -> Path:
    """Write the tables, plan, declarations and reports of a run to the folder ``output``.

    Returns ``output``, where ``manifest.json`` has the bytes and sha256 of each file. The folder appears
    whole or not at all.
    Raises RequestError where the run does not exist, where ``output`` holds files and ``overwrite`` is
    not set or is not the folder of an export, or where it cannot be written.
    """
    found = runs.find(results, run_id, say)
    _may_write(output, overwrite)
    beside = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        (beside / "tables").mkdir(parents=True)
        with database.open(results, read_only=True, say=say) as connection:
            rows = {table.name: _table(connection, table, found.run_id, beside) for table in TABLES}
        _copy(found.path, beside)
        folder.write_json(beside / MANIFEST, _manifest(found, beside, rows))
        _put(beside, output)
    except OSError as error:
        raise folder.cannot_write(output, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return output


def _may_write(output: Path, overwrite: bool) -> None:
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    if not overwrite:
        raise RequestError(f"{output} already holds files.", "Name another folder, or add --overwrite.")
    if not (output / MANIFEST).is_file():
        raise RequestError(
            f"{output} holds files and no {MANIFEST}, so it is no earlier export and is not overwritten.",
            "Name another folder.",
        )


def _table(connection: DuckDBPyConnection, table: Table, run_id: str, output: Path) -> int:
    """Write the rows of one run as Parquet, ordered, so that the same rows give the same file."""
    columns = {column.name for column in table.columns}
    if "run_id" in columns:
        condition = f"WHERE run_id = {literal(run_id)}"
    elif "trial_id" in columns:
        condition = f"WHERE trial_id IN (SELECT trial_id FROM trials WHERE run_id = {literal(run_id)})"
    else:
        condition = ""
    path = output / "tables" / f"{table.name}.parquet"
    written = connection.execute(
        f"COPY (SELECT * FROM {table.name} {condition} ORDER BY ALL)"
        f" TO {literal(str(path))} (FORMAT parquet, COMPRESSION zstd)"
    ).fetchone()
    return int(written[0]) if written else 0


def _copy(source: Path, output: Path) -> None:
    for name in _COPIED:
        if (source / name).is_dir():
            shutil.copytree(source / name, output / name)
        elif (source / name).is_file():
            shutil.copyfile(source / name, output / name)
    for report in sorted(source.glob("report*")):
        if report.is_dir():
            shutil.copytree(report, output / report.name)
        else:
            shutil.copyfile(report, output / report.name)


def _manifest(found: runs.Run, output: Path, rows: dict[str, int]) -> dict[str, Any]:
    files = []
    for path in sorted(path for path in output.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        name = path.relative_to(output).as_posix()
        files.append({"file": name, "bytes": path.stat().st_size, "sha256": digest})
    return {
        "schema": SCHEMA_VERSION,
        "run_id": found.run_id,
        "experiment": found.experiment,
        "profile": found.profile,
        "rows": rows,
        "files": files,
    }


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
