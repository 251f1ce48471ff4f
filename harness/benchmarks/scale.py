"""10,000 trials and 100 million operations kept as single records, in one database with as many kept as histograms.

    cd harness && PYTHONPATH=. python benchmarks/scale.py [TRIALS] [--keep DIR] [--benchload FILE]

Two runs of so many trials each: one with histograms of intervals (10,000 operations a trial), whose report is rendered;
one with 10,000 single operations a trial, in files that benchload wrote, whose claims are judged. Prints seconds beside
what DuckDB needs for the same: a rebuild of everything, with and without the single operations; one more trial; a
percentile of every trial; `bench claims`; the report.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path

import claims as claimed
import duckdb
import report as reported
from timed import arguments, timed, workplace

from benchbook.record import database, folder, ingest, operations, rebuild
from benchbook.record.ddl import literal
from benchbook.report import render
from benchbook.run import benchload

DIFFERENT = 40
"""Files of operations that are made; the others are copies."""
DATASET = (
    "devops", "--scale=10", "--start=2016-01-01T00:00:00Z", "--end=2016-01-01T02:46:40Z", "--interval=10s",
)  # fmt: skip
"""90,000 rows: 10,000 batches of 9."""
LATENCY = "quantile_cont(end_ns - start_ns, 0.99)"
COLUMNS = "operation, worker, intended_ns, start_ns, end_ns, rows, status"


def main() -> None:
    asked = arguments(__doc__)
    asked.add_argument("--benchload", type=Path, help="the load tool; by default that of this checkout")
    given = asked.parse_args()
    with workplace(given.keep, "scale") as work:
        measure(work, given.trials, given.benchload or benchload.find())


def measure(work: Path, trials: int, program: Path) -> None:
    results = work / "results"
    if not results.exists():
        said("two runs written", timed(lambda: synthesise(results, trials)))
        said("rebuild without single operations", timed(lambda: rebuild.rebuild(results)))
        said("single operations written", timed(lambda: record(results, work, program)))
    files = sorted(str(path) for path in (results / "runs" / "run" / "trials").glob("*/operations/*.parquet"))
    said("DuckDB: the single operations from Parquet", timed(lambda: from_parquet(work, files)))
    counts: dict[str, int] = {}
    said("rebuild of everything", timed(lambda: counts.update(rebuild.rebuild(results))))
    size = (results / database.FILE).stat().st_size
    print(", ".join(f"{name} {count:,}" for name, count in counts.items() if count), f"; {size / 1e9:.2f} GB")
    alone = database.make(work / "alone.duckdb")
    identities = [(f"run/{path.name}", path) for path in folder.trial_folders(results / "runs" / "run")]
    said("single operations alone into the table", timed(lambda: enter(alone, identities)))
    alone.close()
    (work / "alone.duckdb").unlink()
    place = folder.trial_folders(results / "runs" / "run")[0]
    said("one trial again into the full tables", median(lambda: ingest.trial(results, place)))
    listed = ", ".join(map(literal, files))
    in_place = f"SELECT filename, {LATENCY} FROM read_parquet([{listed}], filename = true) GROUP BY ALL"
    said(
        "99th percentile of every trial, DuckDB from Parquet",
        median(lambda: duckdb.execute(in_place).fetchall(), 1),
    )
    said("99th percentile of every trial, table operations", median(lambda: percentiles(results), 1))
    said("DuckDB: what claims read", median(lambda: claimed.floor(results)))
    said("bench claims run", median(lambda: claimed.command(results, "run")))
    name = next(path.name for path in folder.run_folders(results) if path.name != "run")
    said("DuckDB: every row that a report reads", median(lambda: reported.read_all(results)))
    said("the report of the other run", timed(lambda: render.report(results, name, reported.REPORTS)))


def synthesise(results: Path, trials: int) -> None:
    reported.synthesise(results, trials)
    claimed.synthesise(results, trials, database=False)


def record(results: Path, work: Path, program: Path) -> None:
    """Give every trial of the run ``run`` a file of operations that benchload wrote."""
    made = []
    for number in range(DIFFERENT):
        file = work / "made" / f"{number}.parquet"
        wanted = (*DATASET, f"--seed={number}", "--target=null", "--batch-rows=9", "--workers=2")
        subprocess.run(
            [program, "load", *wanted, "--record-operations", file], check=True, stdout=subprocess.DEVNULL
        )
        made.append(file)
    for number, trial in enumerate(folder.trial_folders(results / "runs" / "run")):
        target = operations.file(trial, "load")
        target.parent.mkdir()
        shutil.copyfile(made[number % DIFFERENT], target)


def from_parquet(work: Path, files: list[str]) -> None:
    """What no ingest can be faster than: the same files into a table, with the name of the file as the trial."""
    file = work / "floor.duckdb"
    connection = database.connect(file, read_only=False)
    listed = ", ".join(map(literal, files))
    try:
        connection.execute(
            f"CREATE TABLE operations AS SELECT filename, {COLUMNS} FROM read_parquet([{listed}], filename = true)"
        )
        connection.execute("CHECKPOINT")
    finally:
        connection.close()
        file.unlink()


def enter(connection: duckdb.DuckDBPyConnection, identities: list[tuple[str, Path]]) -> None:
    for start in range(0, len(identities), ingest.BATCH_TRIALS):
        operations.insert(connection, identities[start : start + ingest.BATCH_TRIALS])
    connection.execute("CHECKPOINT")


def percentiles(results: Path) -> None:
    with database.open(results, read_only=True) as connection:
        connection.execute(f"SELECT trial_id, {LATENCY} FROM operations GROUP BY ALL").fetchall()


def said(what: str, seconds: float) -> None:
    print(f"{what + ':':52} {seconds:8.2f} s", flush=True)


def median(work: Callable[[], object], times: int = 3) -> float:
    return statistics.median(timed(work) for _ in range(times))


if __name__ == "__main__":
    main()
