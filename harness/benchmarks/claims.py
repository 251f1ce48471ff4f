"""Measure `bench claims` on a run of 10,000 trials, compared with DuckDB alone reading its measurements.

    cd harness && PYTHONPATH=. python benchmarks/claims.py [TRIALS] [--keep DIR]

Prints seconds (median of 5) for: DuckDB alone reading and joining the run's measurements; every claim of the
fixture cnos-vs-influx and 40 more; `bench claims --json` as a separate process.
"""

from __future__ import annotations

import math
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timed import arguments, timed, workplace

from benchbook.analyse import claims
from benchbook.record import database
from tests.claims import measured_run

SIZES = [1, 1000, 2500, 5000, 10000, 20000]
SYSTEMS = ["cnosdb-2.0.1", "influxdb-1.8.10"]
METRICS = [("load", f"metric_{place}_per_second") for place in range(18)]


def main() -> None:
    given = arguments(__doc__).parse_args()
    with workplace(given.keep, "claims") as work:
        measure(work / "results", given.trials)


def measure(results: Path, trials: int) -> None:
    if not results.exists():
        print(f"written and entered in {timed(lambda: synthesise(results, trials)):.1f} s")
    print(f"DuckDB alone:      {shown(lambda: floor(results))}")
    found: list[Any] = []
    print(
        f"all claims:        {shown(lambda: found.append(claims.judge_run(results, 'run', measured_run.PUBLISHED)))}"
    )
    print(f"bench claims:      {shown(lambda: command(results))}")
    print(f"claims {len(found[-1])}, cells {sum(len(one.cells) for one in found[-1])}, trials {trials}")


def floor(results: Path) -> None:
    """Measure the lower bound of any reader: the join of trials and measurements that claims use."""
    with database.open(results, read_only=True) as connection:
        connection.execute(
            "SELECT cell, metric, list(block), list(value) FROM measurements JOIN trials USING (trial_id) GROUP BY ALL"
        ).fetchall()


def command(results: Path, run: str = "latest") -> None:
    argv = [sys.executable, "-m", "benchbook", "claims", run, "--json", "--results", str(results)]
    subprocess.run(
        argv, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(Path.cwd())}
    )


def synthesise(results: Path, trials: int, *, database: bool = True) -> None:
    chance = random.Random(1)
    declared = measured_run.experiment("cnos-vs-influx")
    declared["claims"] += [{**declared["claims"][1], "id": f"again-{place}"} for place in range(40)]

    def value(_levels: dict[str, Any], _block: int) -> dict[tuple[str, str], float]:
        rate = 1000 * math.exp(chance.gauss(0, 0.05))
        return {("load", "rows_per_second"): rate, ("load", "values_per_second"): 8 * rate} | dict.fromkeys(
            METRICS, rate
        )

    factors = {"system": SYSTEMS, "workers": [100], "batch_size": SIZES}
    blocks = trials // (len(SYSTEMS) * len(SIZES))
    measured_run.write(results, "run", factors, value, declared=declared, blocks=blocks, database=database)


def shown(work: Callable[[], object]) -> str:
    seconds = [timed(work) for _ in range(5)]
    return f"{statistics.median(seconds):.3f} s (of {', '.join(f'{one:.3f}' for one in seconds)})"


if __name__ == "__main__":
    main()
