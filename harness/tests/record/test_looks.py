"""The looks in run.json: appended, and what they say of the trials that are left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchbook.record import database, looks, runs
from tests.claims import measured_run

FIRST: dict[str, Any] = {
    "block": 3, "level": 0.01, "verdicts": {}, "decided": [], "given_up": {}, "undecided": {"a": {}},
    "cells": ["system=a"], "stopped": None,
}  # fmt: skip
LAST = {
    **FIRST,
    "block": 4,
    "undecided": {},
    "decided": ["a"],
    "cells": [],
    "stopped": "every claim is decided",
}


def write(results: Path, done: int = 5) -> Path:
    measured_run.write(
        results,
        "run-1",
        {"system": ["a", "b"]},
        lambda levels, block: {("load", "rows_per_second"): 1.0},
        blocks=5,
    )
    for path in sorted((results / "runs/run-1/trials").iterdir()):
        if int(path.name) >= 2 * done:
            (path / "trial.json").unlink()
    return results / "runs" / "run-1"


def test_looks_are_read_in_the_order_in_which_they_were_taken(tmp_path: Path) -> None:
    run = write(tmp_path)
    assert looks.read(run) == []
    assert looks.stopped([]) is None
    before = json.loads((run / "run.json").read_text())
    looks.append(run, FIRST)
    assert looks.stopped(looks.read(run)) is None
    looks.append(run, LAST)
    assert looks.read(run) == [FIRST, LAST]
    assert looks.stopped(looks.read(run)) == "every claim is decided"
    assert json.loads((run / "run.json").read_text()) == {**before, "looks": [FIRST, LAST]}


def test_a_run_that_was_killed_before_its_facts_has_no_looks(tmp_path: Path) -> None:
    assert looks.read(tmp_path) == []


def test_only_the_cells_of_undecided_claims_are_left(tmp_path: Path) -> None:
    run = write(tmp_path, done=3)
    looks.append(run, FIRST)
    left = runs.left(tmp_path, "run-1")
    assert [(one["block"], one["cell"]) for one in left] == [(3, "system=a"), (4, "system=a")]
    assert runs.find(tmp_path, "run-1").planned == 8
    assert "run-1" in runs.unfinished(tmp_path)


def test_a_run_that_stopped_is_whole_although_its_plan_has_more(tmp_path: Path) -> None:
    run = write(tmp_path, done=4)
    for look in (FIRST, LAST):
        looks.append(run, look)
    (run / "trials/0007/trial.json").unlink()  # block 3 ran system=a alone
    assert runs.left(tmp_path, "run-1") == []
    assert runs.find(tmp_path, "run-1").whole
    assert runs.unfinished(tmp_path) == []


def test_the_database_has_the_looks_and_the_trials_that_they_left(tmp_path: Path) -> None:
    run = write(tmp_path)
    for look in (FIRST, LAST):
        looks.append(run, look)
    database.rebuild(tmp_path)
    with database.open(tmp_path, read_only=True) as connection:
        held = connection.execute("SELECT value FROM run_facts WHERE topic = 'looks' ORDER BY key").fetchall()
        planned = connection.execute("SELECT planned_trials FROM runs").fetchone()
    assert [json.loads(row[0])["block"] for row in held] == [3, 4]
    assert planned == (7,)
