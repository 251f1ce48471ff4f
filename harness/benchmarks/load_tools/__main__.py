"""Compare benchload with the load tools of the published benchmarks in a Markdown table.

    BENCHBOOK_BENCHLOAD=… python3 harness/benchmarks/load_tools [--runs 5] [--rows 1000000] [--only load,queries]

Every number is the median of paired runs: ours, theirs, ours, theirs … on one machine. Peers are found on PATH (`bulk_data_gen`,
`bulk_load_influx`, `bulk_query_gen`, `query_benchmarker_influxdb`, `tsbs_generate_data`, `generate_data`,
`load_influx`, `wrk`); one that is not there is shown as missing. CPU is user and system time of the client alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

import generating
import latency
import loading
import memory
import querying
from table import Line, show
from work import Work

PARTS = {
    "generate": generating.lines,
    "cores": generating.cores,
    "load": loading.lines,
    "fly": loading.on_the_fly,
    "queries": querying.lines,
    "memory": memory.lines,
    "latency": latency.lines,
}


def main() -> None:
    """Measure the chosen parts and print the table."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--runs", type=int, default=5, help="pairs of runs of each comparison")
    asked.add_argument(
        "--rows", type=int, default=1_000_000, help="about how many rows are generated and loaded"
    )
    asked.add_argument(
        "--only", default=",".join(PARTS), help=f"parts with commas between, of {', '.join(PARTS)}"
    )
    given = asked.parse_args()
    wanted = given.only.split(",")
    unknown = [name for name in wanted if name not in PARTS]
    if unknown or given.runs < 1 or given.rows < 10_000:
        sys.exit(
            f"--only has {unknown}; allowed are {', '.join(PARTS)}; --runs is at least 1, --rows at least 10000."
        )
    binary = os.environ.get("BENCHBOOK_BENCHLOAD") or shutil.which("benchload")
    if not binary:
        sys.exit(
            "BENCHBOOK_BENCHLOAD names no benchload and there is none on PATH; run ./bench list, then name .bench/bin/benchload."
        )
    found: list[Line] = []
    with tempfile.TemporaryDirectory(prefix="benchbook-load-tools-") as folder:
        work = Work(Path(folder), binary, given.runs, given.rows)
        for name in wanted:
            for line in PARTS[name](work):
                print(f"{name}: {line.what}: {line.ours} ours, {line.peer}", file=sys.stderr, flush=True)
                found.append(line)
    print(show(found))


if __name__ == "__main__":
    main()
