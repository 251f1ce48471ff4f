"""Measure Benchbook with 10,000 trials and 100 million operations, compared with DuckDB alone on the same bytes.

    cd harness && PYTHONPATH=. BENCHBOOK_BENCHLOAD=../.bench/bin/benchload python benchmarks/scale.py [TRIALS] [--keep DIR]

There are two runs: one with histograms of intervals (10,000 operations per trial), whose report is rendered; one with
10,000 single operations per trial in files from benchload, whose claims are judged. 10,000 trials need 8 GB of disk
while they are entered. For each command, the script prints the processor time of a separate process and that of one in
which DuckDB alone reads or writes the same, the difference, the ratio, and the largest memory of both. The numbers
include imports. Processor time depends less on other load of the machine than wall time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import claims as claimed
import duckdb
import report as reported

from benchbook.analyse.run import open_run
from benchbook.process import spawn
from benchbook.record import database, duckdb_file, folder, ingest, lines
from benchbook.record.tables import literal
from tests.record.entering import enter_trial

DIFFERENT = 40
"""Generated files of operations; the others are copies."""
DATASET = (
    "devops", "--scale=10", "--start=2016-01-01T00:00:00Z", "--end=2016-01-01T02:46:40Z", "--interval=10s",
)  # fmt: skip
"""90,000 rows: 10,000 batches of 9."""
LATENCY = "quantile_cont(end_ns - start_ns, 0.99)"
COLUMNS = "operation, worker, intended_ns, start_ns, end_ns, rows, status"
PARTS = "trial_id VARCHAR, levels JSON, phases JSON, measurements JSON, errors JSON, checks JSON"
"""Columns of trial.json that DuckDB alone reads."""
HEAD = f"{'':44} {'Benchbook':>11} {'DuckDB':>9} {'more':>9} {'ratio':>7} {'Benchbook':>11} {'DuckDB':>9}"
UNITS = f"{'':44} {'CPU s':>11} {'CPU s':>9} {'CPU s':>9} {'':>7} {'peak MB':>11} {'peak MB':>9}"


@dataclass(frozen=True)
class Cost:
    """Resources of a process and of those that it waited for."""

    cpu_seconds: float
    peak_bytes: int


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("trials", nargs="?", type=int, default=10_000)
    asked.add_argument("--keep", type=Path, help="folder to work in, which is kept")
    asked.add_argument("--benchload", type=Path, help="the load tool; by default that of this checkout")
    asked.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.step:
        STEPS[given.step](given.keep / "results")
        return
    work = given.keep or Path(tempfile.mkdtemp(prefix="benchbook-scale-"))
    try:
        measure(work, given.trials, given.benchload or spawn.find_benchload())
    finally:
        if not given.keep:
            shutil.rmtree(work)


def measure(work: Path, trials: int, program: Path) -> None:
    results = work / "results"
    if not results.exists():
        reported.synthesise(results, trials)
        claimed.synthesise(results, trials, database=False)
    print(f"{HEAD}\n{UNITS}", flush=True)
    single = list((results / "runs" / "run" / "trials").glob("*/operations"))
    if not single:  # before there are single operations
        compare(work, "bench rebuild, histograms of intervals", ["rebuild"], "lines")
        record(results, work, program)
    compare(work, "bench rebuild, and all single operations", ["rebuild"], "everything")
    compare(work, "single operations alone", "enter", "operations")
    compare(work, "one trial again into the full tables", "again", "once")
    compare(work, "99th percentile of each trial", "percentiles", "in-place")
    compare(work, "bench claims", ["claims", "run", "--json"], "join")
    compare(work, "all parts of a report", "parts", "rows")
    compare(work, "bench report", ["report", rendered(results)], "rows")
    with database.open(results, read_only=True) as connection:
        for table, what in (("operations", "count(*)"), ("intervals", "sum(operations)")):
            row = connection.execute(f"SELECT {what} FROM {table}").fetchone()
            print(f"{table}: {row[0] if row else 0:,} operations")
    print(f"database: {(results / duckdb_file.FILE).stat().st_size / 1e9:.2f} GB")


def compare(work: Path, what: str, ours: str | list[str], floor: str) -> None:
    """Print a line: ``ours`` is a ``bench`` command or a step, ``floor`` the step with DuckDB alone."""
    argv = (
        step(work, ours)
        if isinstance(ours, str)
        else ["-m", "benchbook", *ours, "--results", str(work / "results")]
    )
    one, two = cost(argv), cost(step(work, floor))
    print(
        f"{what:44} {one.cpu_seconds:11.2f} {two.cpu_seconds:9.2f} {one.cpu_seconds - two.cpu_seconds:9.2f}"
        f" {one.cpu_seconds / two.cpu_seconds:7.1f} {one.peak_bytes / 1e6:11,.0f} {two.peak_bytes / 1e6:9,.0f}",
        flush=True,
    )


def step(work: Path, name: str) -> list[str]:
    return [__file__, "--step", name, "--keep", str(work)]


def cost(argv: Sequence[str]) -> Cost:
    """Run Python on ``argv`` and return its cost."""
    paths = os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's modules are compiled once
    with subprocess.Popen([sys.executable, *argv], stdout=subprocess.DEVNULL, env=environment) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(argv)} ended with {process.returncode}")
    return Cost(used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss)


def record(results: Path, work: Path, program: Path) -> None:
    """Write a file of operations from benchload for every trial of the run ``run``."""
    made = []
    for number in range(DIFFERENT):
        file = work / "made" / f"{number}.parquet"
        wanted = (*DATASET, f"--seed={number}", "--target=null", "--batch-rows=9", "--workers=2")
        subprocess.run(
            [program, "load", *wanted, "--record-operations", file], check=True, stdout=subprocess.DEVNULL
        )
        made.append(file)
    for number, trial in enumerate(of_run(results)):
        target = lines.operations_file(trial, "load")
        target.parent.mkdir()
        shutil.copyfile(made[number % DIFFERENT], target)


def of_run(results: Path) -> list[Path]:
    return folder.trial_folders(results / "runs" / "run")


def rendered(results: Path) -> str:
    """Return the run whose report is rendered."""
    return next(path.name for path in folder.run_folders(results) if path.name != "run")


def parquet(trials: Sequence[Path]) -> str:
    """Return the SQL that reads the single operations of these trials, with the file as the trial."""
    files = ", ".join(literal(str(lines.operations_file(trial, "load"))) for trial in trials)
    return f"read_parquet([{files}], filename = true)"


def floor_of_lines(results: Path) -> None:
    """Read every line of every trial into tables, and each trial.json."""
    in_new_file(results, lambda connection: enter_lines(connection, results))


def floor_of_operations(results: Path) -> None:
    in_new_file(results, lambda connection: enter_operations(connection, results))


def floor_of_everything(results: Path) -> None:
    def both(connection: duckdb.DuckDBPyConnection) -> None:
        enter_lines(connection, results)
        enter_operations(connection, results)

    in_new_file(results, both)


def in_new_file(results: Path, work: Callable[[duckdb.DuckDBPyConnection], None]) -> None:
    file = results.parent / "alone.duckdb"
    connection = duckdb_file.connect(file, read_only=False)
    try:
        connection.execute("SET checkpoint_threshold = '4GB'")
        work(connection)
        connection.execute("CHECKPOINT")
    finally:
        connection.close()
        file.unlink()


def enter_lines(connection: duckdb.DuckDBPyConnection, results: Path) -> None:
    places = [place for run in folder.run_folders(results) for place in folder.trial_folders(run)]
    for source in lines.SOURCES:
        files = [file for place in places if (file := place / source.file).exists() and file.stat().st_size]
        into(connection, source.file.partition(".")[0], files, source.fields)
    fields = dict(part.split() for part in PARTS.split(", "))
    into(connection, "trials", [place / folder.TRIAL_FILE for place in places], fields)


def into(
    connection: duckdb.DuckDBPyConnection, table: str, files: Sequence[Path], fields: dict[str, str]
) -> None:
    listed = ", ".join(literal(str(file)) for file in files)
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in fields.items())
    connection.execute(
        f"CREATE TABLE {table} AS SELECT * FROM read_json([{listed}], columns = {{{columns}}}, filename = 'of_file')"
    )


def enter_operations(connection: duckdb.DuckDBPyConnection, results: Path) -> None:
    connection.execute(
        f"CREATE TABLE operations AS SELECT filename, {COLUMNS} FROM {parquet(of_run(results))}"
    )


def enter(results: Path) -> None:
    """Enter the single operations of every trial into a database with Benchbook's tables."""
    file = results.parent / "alone.duckdb"
    connection = duckdb_file.make(file)
    found = [(f"run/{path.name}", path) for path in of_run(results)]
    for batch in ingest.batched(found, ingest.BATCH_TRIALS):
        lines.insert_operations(connection, batch)
    connection.execute("CHECKPOINT")
    connection.close()
    file.unlink()


def again(results: Path) -> None:
    enter_trial(results, of_run(results)[0])


def once(results: Path) -> None:
    """Replace the single operations of one trial in the full table, and commit."""
    place = of_run(results)[0]
    connection = duckdb_file.connect(results / duckdb_file.FILE, read_only=False)
    connection.begin()
    connection.execute("DELETE FROM operations WHERE trial_id = ?", [f"run/{place.name}"])
    connection.execute(
        f"INSERT INTO operations BY NAME SELECT {literal(f'run/{place.name}')} AS trial_id, 'load' AS phase, 0 AS client,"
        f" {COLUMNS}, operation = 'warmup' AS warmup FROM {parquet([place])}"
    )
    connection.commit()
    connection.close()


def percentiles(results: Path) -> None:
    with database.open(results, read_only=True) as connection:
        connection.execute(f"SELECT trial_id, {LATENCY} FROM operations GROUP BY ALL").fetchall()


def in_place(results: Path) -> None:
    duckdb.execute(f"SELECT filename, {LATENCY} FROM {parquet(of_run(results))} GROUP BY ALL").fetchall()


def parts(results: Path) -> None:
    """Make and draw every part of a report, in one process."""
    run = open_run(results, rendered(results))
    for part in reported.PARTS:
        reported.shown(part(run))


STEPS: dict[str, Callable[[Path], object]] = {
    "lines": floor_of_lines, "operations": floor_of_operations, "everything": floor_of_everything, "enter": enter,
    "again": again, "once": once, "percentiles": percentiles, "in-place": in_place, "join": claimed.floor,
    "rows": reported.read_all, "parts": parts,
}  # fmt: skip


if __name__ == "__main__":
    main()
