"""Write a realistic synthetic run: 2 systems in 3 blocks, with phases, histograms, telemetry and answers.

Tests and authors of reports use it: ``write(results)`` in a test, or as a script
``python harness/tests/record/synthetic_run.py RESULTS_DIR``. Same options, same numbers.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from benchbook.record import seal
from benchbook.record.database import rebuild
from tests.record import synthetic_facts, synthetic_trial
from tests.record.synthetic_facts import QUERY_TYPES, START


def write(
    results: Path,
    *,
    systems: tuple[str, ...] = ("duckdb", "sqlite"),
    blocks: int = 3,
    seed: int = 1,
    experiment: str = "quickstart",
    profile: str = "quick",
    run_id: str | None = None,
    finished: bool = True,
    trials: int | None = None,
    status: dict[int, tuple[str, str]] | None = None,
    instances: int = 20,
    telemetry_seconds: int = 8,
    intervals: int = 6,
    wrong_answers_of: str | None = None,
    batch_sizes: tuple[int, ...] = (5000,),
    database: bool = False,
    own: bool = True,
) -> str:
    """Write plan.json, run.json, the declarations and the trial folders of one run; return its run_id.

    ``trials``: only so many trials of the plan (an unfinished run); ``status``: trial index →
    (status, reason); ``wrong_answers_of``: a system whose answers differ in one value; ``batch_sizes``: levels of a
    second factor, each a separate cell;
    ``database``: also make results/benchbook.duckdb from the folders; ``own``: the user of the test began the run.
    """
    order = random.Random(seed)
    run_id = run_id or f"{experiment}-{START:%Y%m%dT%H%M%S}-{order.randrange(16**4):04x}"
    run = results / "runs" / run_id
    planned = []
    for block in range(blocks):
        shuffled = [(system, batch_size) for batch_size in batch_sizes for system in systems]
        order.shuffle(shuffled)
        for position, (system, batch_size) in enumerate(shuffled):
            index = len(planned)
            planned.append(
                {
                    "trial_id": f"{run_id}/{index:04d}",
                    "index": index,
                    "block": block,
                    "position": position,
                    "cell": f"system={system}"
                    + (f",batch_size={batch_size}" if len(batch_sizes) > 1 else ""),
                    "levels": {
                        "system": system,
                        "arm": "vanilla",
                        "storage": "local",
                        "batch_size": batch_size,
                    },
                }
            )
    synthetic_facts.write_json(
        run / "plan.json", synthetic_facts.plan(run_id, experiment, profile, seed, planned, blocks)
    )
    synthetic_facts.declare(run, experiment, systems)
    (run / "queries").mkdir(parents=True, exist_ok=True)
    queries = ""
    for kind in QUERY_TYPES:
        lines = "".join(json.dumps({"id": number, "query_type": kind}) + "\n" for number in range(instances))
        (run / "queries" / f"{kind}.jsonl").write_text(lines)
        queries += lines
    synthetic_facts.write_json(
        run / "run.json",
        synthetic_facts.facts(run_id, experiment, profile, seed, systems, len(planned), finished, queries),
    )
    for trial in planned[:trials]:
        number = int(str(trial["index"]))
        state, reason = (status or {}).get(number, ("ok", None))
        synthetic_trial.write(
            run / "trials" / f"{number:04d}", run_id, experiment, profile, trial, seed,
            state, reason, instances, telemetry_seconds, intervals, wrong_answers_of,
        )  # fmt: skip
    if own:
        seal.seal_plan(run, (run / "plan.json").read_bytes())
    if database:
        rebuild(results)
    return run_id


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python synthetic_run.py RESULTS_DIR")
    print(write(Path(sys.argv[1]), database=True))
