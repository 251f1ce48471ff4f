"""Measure entering 10,000 synthetic trials into the database, compared with DuckDB alone reading the same rows.

    cd harness && PYTHONPATH=. python benchmarks/ingest.py [TRIALS] [--keep DIR]

Prints seconds for: a rebuild from the folders; DuckDB reading the same rows from Parquet into the same
tables; the ratio of the two; and one more trial entered into the full database, as a run does it.
"""

from __future__ import annotations

import itertools
import shutil
import statistics
from pathlib import Path

from timed import arguments, timed, workplace

from benchbook.record import database, duckdb_file, folder
from benchbook.record.tables import TABLES, quoted
from tests.record import synthetic_run
from tests.record.entering import enter_trial

DIFFERENT = 40
"""Synthetic trials; the others are copies with other names, because encoding histograms is slow."""
RUNS = 10


def main() -> None:
    given = arguments(__doc__).parse_args()
    with workplace(given.keep, "ingest") as work:
        measure(work, given.trials)


def measure(work: Path, trials: int) -> None:
    results = work / "results"
    if not results.exists():
        seconds = timed(lambda: synthesise(results, trials))
        print(f"{trials} trials written in {seconds:.1f} s")
    counts: dict[str, int] = {}
    ours = [timed(lambda: counts.update(database.rebuild(results))) for _ in range(3)]
    size = (results / duckdb_file.FILE).stat().st_size
    print(
        f"rows: {', '.join(f'{name} {count}' for name, count in counts.items() if count)}; {size / 1e6:.0f} MB"
    )
    to_parquet(results, work / "parquet")
    floor = [timed(lambda: from_parquet(work)) for _ in range(3)]
    places = itertools.cycle(folder.trial_folders(folder.run_folders(results)[0])[:5])
    one = [timed(lambda: enter_trial(results, next(places))) for _ in range(5)]
    print(f"rebuild from the folders:       {shown(ours)}, {trials / statistics.median(ours):.0f} trials/s")
    print(f"DuckDB from Parquet:            {shown(floor)}")
    print(f"ratio:                          {statistics.median(ours) / statistics.median(floor):.1f}")
    print(f"one trial into the full tables: {shown(one)}")


def shown(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.3f} s (of {', '.join(f'{one:.3f}' for one in seconds)})"


def synthesise(results: Path, trials: int) -> None:
    each = max(1, trials // RUNS)
    template = synthetic_run.write(results, blocks=DIFFERENT // 2, run_id="template")
    source = results / "runs" / template
    for number in range(RUNS):
        run_id = f"run-{number}"
        target = results / "runs" / run_id
        (target / "trials").mkdir(parents=True)
        for name in ("run.json", "plan.json"):
            (target / name).write_text((source / name).read_text().replace("template", run_id))
        for index in range(each):
            copied = source / "trials" / f"{index % DIFFERENT:04d}"
            place = target / "trials" / f"{index:04d}"
            place.mkdir()
            for name in ("events.jsonl", "telemetry.jsonl", "answers.jsonl"):
                shutil.copyfile(copied / name, place / name)
            text = (copied / "trial.json").read_text()
            text = text.replace(f"template/{index % DIFFERENT:04d}", f"{run_id}/{index:04d}")
            (place / "trial.json").write_text(text.replace('"template"', f'"{run_id}"'))
    shutil.rmtree(source)


def to_parquet(results: Path, output: Path) -> None:
    output.mkdir(exist_ok=True)
    with database.open(results, read_only=True) as connection:
        for table in TABLES:
            connection.execute(f"COPY {table.name} TO '{output / table.name}.parquet' (FORMAT parquet)")


def from_parquet(work: Path) -> None:
    """Measure the lower bound of any rebuild: the same rows into the same tables, from a columnar file for each."""
    file = work / "floor.duckdb"
    file.unlink(missing_ok=True)
    connection = duckdb_file.make(file)
    try:
        for table in TABLES:
            connection.execute(f"INSERT INTO {quoted(table.name)} FROM '{work}/parquet/{table.name}.parquet'")
        connection.execute("CHECKPOINT")
    finally:
        connection.close()


if __name__ == "__main__":
    main()
