"""What a reader must know beside a verdict, and what forbids one."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.analyse import interval, same_work
from benchbook.analyse.judged_cell import JudgedCell
from benchbook.analyse.observed import Observed
from benchbook.analyse.same_work import Answers
from benchbook.declare.claim import Claim
from benchbook.declare.experiment import PLACE_FACTORS
from benchbook.declare.limits import LIMIT_FACTORS


def refusals(cells: Sequence[JudgedCell], answers: Answers) -> list[str]:
    """Return why cells may not be judged: other work, or other answers."""
    found = []
    for cell in cells:
        by_intent = any(factor not in (*PLACE_FACTORS, *LIMIT_FACTORS) for factor in cell.sides.factors)
        found += same_work.mixture(cell.sides.cells, data_differ=by_intent)
    found += answers.faults({(held.system, held.arm) for cell in cells for held in cell.sides.cells})
    return list(dict.fromkeys(found))


def notes(claim: Claim, run: Observed, cells: Sequence[JudgedCell]) -> list[str]:
    """Return the notes on judged cells, each without a full stop."""
    found = []
    if run.profile == "smoke":
        found.append("profile smoke is for tests: its numbers say little")
    if run.row.get("finished_at") is None:
        found.append("the run has not come to its end")
    found.append(_noise(cells))
    fewest = min(cell.trials for cell in cells)
    if fewest < interval.FEW:
        found.append(f"{fewest} {'trial' if fewest == 1 else 'trials'} a cell")
    if outliers := sum(cell.outliers for cell in cells):
        found.append(f"{outliers} {'outlier' if outliers == 1 else 'outliers'}, kept")
    found += _transport(run, cells)
    flights = {held.levels.get("workers") for cell in cells for held in cell.sides.cells}
    if "workers" in claim.of and len(flights) > 1:
        found.append("the sides are compared at different numbers of operations in flight")
    if claim.along is not None:
        found += _span(claim.along, cells)
    if against := [cell.reversed_step for cell in cells if cell.reversed_step]:
        found.append(f"against the trend: {same_work.some(against)}")
    return found


def _span(along: str, cells: Sequence[JudgedCell]) -> list[str]:
    """Say between which levels a trend was followed, and whether numbers were published for them."""
    spans = {(cell.sides.cells[0].levels[along], cell.sides.cells[-1].levels[along]) for cell in cells}
    found = [f"{along} from {first} to {last}" for first, last in sorted(spans)]
    unknown = sum(cell.published is None for cell in cells)
    return [*found, "no number was published for these levels"] if 0 < unknown == len(cells) else found


def _noise(cells: Sequence[JudgedCell]) -> str:
    floors = [cell.noise for cell in cells if cell.noise]
    if not floors:
        return "the noise floor of this machine is unknown (./bench aa)"
    if len(floors) < len(cells):
        return f"the noise floor is unknown in {len(cells) - len(floors)} cells (./bench aa)"
    return f"noise floor: {100 * (max(floors) - 1):.3g} %"


def _transport(run: Observed, cells: Sequence[JudgedCell]) -> list[str]:
    """Say that embedded systems have no transport in their numbers, where they stand beside servers."""
    systems = {held.system for cell in cells for held in cell.sides.cells}
    embedded = sorted(system for system in systems if run.embedded(system))
    if not embedded or len(embedded) == len(systems):
        return []
    verb = "share" if len(embedded) > 1 else "shares"
    return [f"{' and '.join(embedded)} {verb} the client's process, so no transport is in those numbers"]
