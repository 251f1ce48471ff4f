"""The display of a run fits on one line and keeps what changes."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace
from typing import Any

from rich.console import Console

from benchbook.plan.plan import PlannedTrial, label
from benchbook.run.progress import Progress

CONSTANT = {"storage": "local", "arm": "vanilla", "dataset_of_a_long_name": "devops", "scale": 4000}


def planned(index: int, **levels: Any) -> PlannedTrial:
    levels = {**levels, **CONSTANT}
    return PlannedTrial(f"r/{index:04d}", index, 0, index, label(levels), levels)


def begun(width: int, **more: Any) -> tuple[Progress, io.StringIO, list[PlannedTrial]]:
    out = io.StringIO()
    trials = [
        planned(place, system=system, workers=100)
        for place, system in enumerate(("influxdb-1.8.10", "elasticsearch-6.8.23"))
    ]
    progress = Progress(7200.0, Console(file=out, width=width), **more)
    plan = SimpleNamespace(
        run_id="r", trials=trials, cells=lambda: trials, profile="published", sequential=None, gate=None
    )
    progress.run_started(plan, 0)  # type: ignore[arg-type]
    progress.trial_started(trials[1])
    progress.phase("groupby-orderby-limit")
    progress.rate(123456.0, "rows/s")
    return progress, out, trials


def test_a_narrow_terminal_cuts_off_the_trial_and_no_number() -> None:
    progress, _, _ = begun(80)
    line = progress._line()
    assert str(line) == (
        "0/2 trials  2.0 h left  groupby-orderby-limit  123,456 rows/s  system=elasticsearch-6.8.23"
    )
    line.truncate(80, overflow="ellipsis")
    assert "123,456 rows/s" in str(line)
    assert line.cell_len <= 80


def test_a_budget_bounds_the_time_that_is_left() -> None:
    progress, out, _ = begun(80, budget=600.0)
    assert "about 10 min" in out.getvalue()
    assert str(progress._line()).startswith("0/2 trials  10 min left")


def test_a_finished_trial_is_named_by_what_differs() -> None:
    progress, out, trials = begun(80)
    progress.trial_ended(trials[1], {"status": "ok", "reason": None, "duration_seconds": 2.0})
    found = re.search(
        r"\[1/2\] block 1 system=elasticsearch-6\.8\.23 ok in 2\.0 s, about \d+ s left\n", out.getvalue()
    )
    assert found is not None
    progress.trial_ended(trials[0], {"status": "ok", "reason": None, "duration_seconds": 2.0})
    assert "[2/2] block 1 system=influxdb-1.8.10 ok in 2.0 s\n" in out.getvalue()
