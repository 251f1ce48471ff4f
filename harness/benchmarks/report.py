"""Measure the report of 10,000 trials and 100 million operations, compared with DuckDB alone.

    cd harness && PYTHONPATH=. python benchmarks/report.py [TRIALS] [--keep DIR] [--profile]

One run of two systems; operations are kept as histograms of intervals. Prints seconds for: entering the run from its
folders; DuckDB reading every row of it that a report reads; each part of the report that takes more than a tenth of a
second; the whole page; the site's picture of verdicts; publishing.
"""

from __future__ import annotations

import cProfile
import pstats
import random
import shutil
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timed import arguments, timed, workplace

from benchbook.analyse import limits
from benchbook.analyse.run import Run, open_run
from benchbook.record import database, folder
from benchbook.record.tables import BATCH_ROWS
from benchbook.report import answer, conclusion, render
from benchbook.report.charts import heatmap, latency, order, rate_over_time, ratio, strip, telemetry
from benchbook.report.tables import work
from benchbook.site import outcome
from tests.record import synthetic_lines, synthetic_run

REPORTS = Path(__file__).parents[2] / "reports"
DIFFERENT = 40
"""Synthetic trials; the others are copies with other names, because encoding histograms is slow."""
OPERATIONS = 10_000
"""Operations of one trial."""
TABLES = (
    "runs", "trials", "levels", "phases", "measurements", "intervals", "histograms", "errors", "checks", "answers",
    "telemetry",
)  # fmt: skip
PARTS: tuple[Callable[[Run], Any], ...] = (
    conclusion.answer_sentence, conclusion.findings, answer.table, strip.throughput, rate_over_time.chart,
    heatmap.chart, latency.query_types_chart, latency.percentiles_chart,
    strip.size_on_disk, ratio.chart, order.chart, telemetry.chart, work.checks_table, work.gaps_table, work.trials_table,
    limits.limits,
)  # fmt: skip


def main() -> None:
    asked = arguments(__doc__)
    asked.add_argument("--profile", action="store_true", help="print where the time of the parts goes")
    given = asked.parse_args()
    with workplace(given.keep, "report") as work:
        measure(work, given.trials, given.profile)


def measure(work: Path, count: int, profiled: bool) -> None:
    results = work / "results"
    if not results.exists():
        print(f"{count} trials written in {timed(lambda: synthesise(results, count)):.1f} s")
        print(f"entered in {timed(lambda: database.rebuild(results)):.1f} s")
    floor = statistics.median(timed(lambda: read_all(results)) for _ in range(3))
    with database.open(results, read_only=True) as connection:
        row = connection.execute(
            "SELECT sum(operations), count(*) FROM intervals WHERE NOT warmup"
        ).fetchone()
    print(f"operations {row[0]:,} in {row[1]:,} intervals" if row else "no intervals")
    print(f"DuckDB reads every row:      {floor:.2f} s")
    whole = parts(results, profiled)
    print(f"all parts in one process:    {whole:.2f} s, {whole / floor:.1f} times as long")
    page = timed(lambda: render.report(results, run_id(results), REPORTS))
    print(f"the whole page:              {page:.2f} s, {page / floor:.1f} times as long")


def parts(results: Path, profiled: bool) -> float:
    run = open_run(results)
    profile = cProfile.Profile()
    if profiled:
        profile.enable()
    total = 0.0
    for part in PARTS:
        seconds = timed(lambda part=part: shown(part(run)))
        total += seconds
        if seconds > 0.1:
            print(f"  {part.__module__.removeprefix('benchbook.report.'):24} {seconds:6.2f} s")
    seconds = timed(lambda: outcome.outcomes(run))
    print(f"  {'site.picture':24} {seconds:6.2f} s")
    if profiled:
        profile.disable()
        pstats.Stats(profile).sort_stats("cumulative").print_stats(45)
    return total


def shown(made: Any) -> None:
    """Display a value: draw a chart or write a table."""
    if hasattr(made, "html"):
        made.html()


def read_all(results: Path) -> None:
    """Measure the lower bound of any report: read every row of its tables as Arrow."""
    with database.open(results, read_only=True) as connection:
        for table in TABLES:
            connection.execute(f"SELECT * FROM {table}").to_arrow_table(BATCH_ROWS)


def run_id(results: Path) -> str:
    return folder.run_folders(results)[0].name


def synthesise(results: Path, count: int) -> None:
    """Write one run of ``count`` trials: 40 different ones, and copies with other names and rates."""
    import json

    template = synthetic_run.write(
        results, blocks=DIFFERENT // 2, run_id="template", intervals=10, telemetry_seconds=4
    )
    source = results / "runs" / template
    target = results / "runs" / "quickstart-20260301T093000-0000"
    name = target.name
    (target / "trials").mkdir(parents=True)
    for file in ("run.json", "plan.json"):
        (target / file).write_text((source / file).read_text().replace("template", name))
    shutil.copytree(source / "declared", target / "declared")
    chance = random.Random(1)
    for number in range(count):
        place = target / "trials" / f"{number:04d}"
        copied = source / "trials" / f"{number % DIFFERENT:04d}"
        place.mkdir()
        for file in ("telemetry.jsonl", "answers.jsonl"):
            shutil.copyfile(copied / file, place / file)
        (place / "events.jsonl").write_text(larger(copied / "events.jsonl"))
        trial = json.loads((copied / "trial.json").read_text())
        trial |= {"trial_id": f"{name}/{number:04d}", "run_id": name, "index": number, "block": number // 2}
        for one in trial["measurements"]:
            if one["metric"] in ("rows_per_second", "latency_p50", "disk_bytes"):
                one["value"] *= 1 + chance.uniform(-0.02, 0.02)
        (place / "trial.json").write_text(json.dumps(trial))
    shutil.rmtree(source)


_LARGER: dict[Path, str] = {}


def larger(path: Path) -> str:
    """Return the events of a trial whose histograms contain many more operations."""
    import json

    if path not in _LARGER:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        intervals = [line for line in lines if line["type"] == "interval"]
        for line in intervals:
            each = OPERATIONS // len(intervals)
            line["operations"] = each
            line["histogram"] = synthetic_lines.histogram(0.012, each, 1)[0]
        _LARGER[path] = "".join(json.dumps(line) + "\n" for line in lines)
    return _LARGER[path]


if __name__ == "__main__":
    main()
