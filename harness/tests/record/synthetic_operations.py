"""Write single operations of a synthetic run in the form of clients: a load by two clients, and queries."""

from __future__ import annotations

import random
from pathlib import Path

from benchbook.record import lines
from benchbook.workers.recorder import Operations

LOADED, WARM, ASKED = 7, 2, 20
"""Operations of each client's load, of a warm-up, and of the queries after it."""
FILES = 3
"""Files of a trial."""


def write(run: Path) -> int:
    """Write the operations of every trial of a run folder; return their total number."""
    trials = sorted((run / "trials").iterdir())
    for number, trial in enumerate(trials):
        chance = random.Random(number)
        load = lines.operations_file(trial, "load")
        for client in range(2):
            _file(lines.numbered(load, client), chance, [("write", LOADED)])
        query = lines.operations_file(trial, "groupby")
        _file(query, chance, [("warmup", WARM), ("query", ASKED)])
        query.with_name("killed.parquet.part").write_bytes(b"PAR1")
    return len(trials) * (2 * LOADED + WARM + ASKED)


def _file(path: Path, chance: random.Random, kinds: list[tuple[str, int]]) -> None:
    kept = Operations(path)
    kept.begin(1_000)
    clock = 1_000
    for operation, count in kinds:
        for _ in range(count):
            began, clock = clock, clock + chance.randrange(1, 10_000_000)
            status = chance.choice(["ok", "ok", "ok", "timeout"])
            kept.add(operation, began, clock, chance.randrange(5_000), status, worker=chance.randrange(3))
    kept.close()
