"""``bench run X --precision 5%``: a pilot run, then as many trials as its spread requires."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchbook.cli.carry_out import carried_out, carry_out_and_report, confirm, store
from benchbook.cli.request import planned
from benchbook.declare.catalogue import Catalogue
from benchbook.plan import precision
from benchbook.plan.plan import Plan


def begin(asked: dict[str, Any], results: Path, text: str) -> int:
    """Plan, store and carry out the pilot, then the measured run; return the exit code.

    ``asked`` holds the arguments of ``planned`` except the number of trials.
    """
    share = precision.parse(text)
    made = planned(Catalogue(), **{**asked, "trials": precision.PILOT})
    made = replace(made, precision={"asked": share, "pilot": None, "request": asked})
    store(made, results)
    return continue_run(made, results)


def is_pilot(made: Plan) -> bool:
    """Return whether a plan is a pilot that a measured run follows."""
    return made.precision is not None and made.precision["pilot"] is None


def continue_run(pilot: Plan, results: Path) -> int:
    """Carry out the rest of a pilot, then a run with the number of trials that the pilot determined."""
    from benchbook.analyse.run import Run

    assert pilot.precision is not None
    asked = dict(pilot.precision["request"])
    outcome = carried_out(pilot, results)
    seen = Run(results, pilot.run_id)
    measured = {
        pair: [list(seen.values(cell, pair).by_block.values()) for cell in seen.cells]
        for pair in seen.pairs()
    }
    found = precision.needed(pilot.run_id, measured, pilot.precision["asked"])
    share = f"{100 * pilot.precision['asked']:g} %"
    print(
        f"bench: the trials of the pilot {pilot.run_id} vary by {100 * (found.spread - 1):.1f} % in "
        f"{' '.join(found.pair)}; {found.trials} trials of each cell should give a 95 % CI of ±{share}",
        file=sys.stderr,
    )
    made = planned(Catalogue(), **{**asked, "trials": found.trials})
    about = {"asked": pilot.precision["asked"], "pilot": pilot.run_id, "spread": found.spread}
    made = replace(made, precision={**about, "metric": " ".join(found.pair), "trials": found.trials})
    confirm(results, made, yes=False)
    store(made, results)
    return max(outcome.exit_code, carry_out_and_report(made, results))
