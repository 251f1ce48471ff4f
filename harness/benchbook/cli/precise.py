"""``bench run X --precision 5%``: a pilot of a few blocks, then as many more as its spread requires."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchbook.cli.carry_out import carried_out, carry_out_and_report, confirm, store
from benchbook.cli.request import planned
from benchbook.declare.catalogue import Catalogue
from benchbook.plan import precision
from benchbook.plan.plan import Plan, extended
from benchbook.run import engine


def begin(asked: dict[str, Any], results: Path, text: str, *, yes: bool) -> int:
    """Plan, store and carry out the pilot, then the blocks that it requires; return the exit code.

    ``asked`` holds the arguments of ``planned`` except the number of trials.
    """
    share = precision.parse(text)
    made = planned(Catalogue(), **{**asked, "trials": precision.PILOT})
    about = {"asked": share, "pilot": precision.PILOT, "trials": None, "confirmed": yes}
    made = replace(made, precision=about)
    confirm(results, made, yes)
    store(made, results)
    return continue_run(made, results)


def continue_run(pilot: Plan, results: Path) -> int:
    """Carry out the rest of a pilot, then the blocks that it requires in the same run."""
    assert pilot.precision is not None
    carried_out(pilot, results)
    share = float(pilot.precision["asked"])
    found = precision.needed(pilot.run_id, _log_ratios(results, pilot.run_id), share)
    print(
        f"bench: after {precision.PILOT} blocks, the ratio of {' '.join(found.pair)} varies by "
        f"{100 * (found.spread - 1):.1f} %; {found.trials} trials of each cell should give a 95 % CI of "
        f"±{100 * share:g} %",
        file=sys.stderr,
    )
    about = {"spread": found.spread, "metric": " ".join(found.pair), "trials": found.trials}
    made = replace(extended(pilot, found.trials), precision={**pilot.precision, **about})
    confirm(results, made, yes=bool(pilot.precision["confirmed"]))
    engine.store_plan(results, made)
    return carry_out_and_report(made, results)


def _log_ratios(results: Path, run_id: str) -> dict[tuple[str, str], list[list[float]]]:
    """Return (phase, metric) → the log ratios of each cell over the one before it; of a single cell, its logarithms."""
    from benchbook.analyse.paired import chain
    from benchbook.analyse.run import Run

    run = Run(results, run_id)
    with run.opened():
        found = {pair: chain(run, pair) for pair in run.pairs()}
        if len(run.cells) > 1:
            return found
        values = {pair: list(run.values(run.cells[0], pair).by_block.values()) for pair in found}
    return {pair: [list(map(math.log, held))] for pair, held in values.items() if min(held, default=0) > 0}
