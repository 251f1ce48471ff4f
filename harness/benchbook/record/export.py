"""Copy one run out of a results folder as a research object: everything that rebuilds it, and what describes it.

An export holds the run's own files (plan, facts, declarations, query sets, trials with their configuration and
logs), the same as Parquet tables, the report, the environment, RO-Crate metadata and a digest of every file.
"""

# ruff: noqa: S608 - names of tables come from record.tables, paths are quoted

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import BenchbookError, RequestError
from benchbook.record import crate, database, folder, ingest, manifest, runs
from benchbook.record.ddl import literal
from benchbook.record.folder import Say, tell
from benchbook.record.private import Scrubber, scrubber
from benchbook.record.tables import TABLES, Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MANIFEST = manifest.FILE
COPIED = (folder.RUN_FILE, folder.PLAN_FILE, "queries", "declared", folder.TRIALS_FOLDER)
"""The parts of a run folder that an import needs; the rest of an export is made from them."""
ENVIRONMENT = "environment.json"
Render = Callable[[Path, str], Path]
"""Renders the report of a run: results folder and run_id to the path of the file."""


def run(
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
        manifest.write(beside, {**about, "scrubbed": not private, "rows": rows})
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
