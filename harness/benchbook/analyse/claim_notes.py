"""Notes beside the verdict on a claim, and reasons that forbid a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from benchbook.analyse import limits, looked, same_work
from benchbook.analyse.claim_cells import differing
from benchbook.analyse.claim_evidence import OF_FAILURES, JudgedCell
from benchbook.analyse.model import FEW
from benchbook.analyse.run import Run
from benchbook.analyse.same_work import SameWork
from benchbook.analyse.wording import level_words
from benchbook.declare.claim import Claim
from benchbook.declare.experiment import LIMIT_FACTORS, PLACE_FACTORS
from benchbook.measure.steady import STEADY_FROM


def refusals(cells: Sequence[JudgedCell], work: SameWork) -> list[str]:
    """Return why cases may not be judged: other work, or other answers."""
    found = []
    for cell in cells:
        by_intent = any(factor not in (*PLACE_FACTORS, *LIMIT_FACTORS) for factor in cell.sides.factors)
        found += same_work.mixture(cell.sides.cells, data_differ=by_intent)
    found += work.faults({(held.system, held.arm) for cell in cells for held in cell.sides.cells})
    return list(dict.fromkeys(found))


def notes(claim: Claim, run: Run, cells: Sequence[JudgedCell]) -> list[str]:
    """Return the notes on judged cases, each without a full stop."""
    found = []
    if run.profile == "smoke":
        found.append("profile smoke is for tests: its numbers show little")
    if run.info.get("finished_at") is None:
        found.append("the run is unfinished")
    found += _noise(cells)
    found += looked.note(run)
    fewest = min(cell.trials for cell in cells)
    if fewest < FEW:
        smallest = " in the smallest case" if any(cell.trials > fewest for cell in cells) else ""
        found.append(f"{fewest} {'trial' if fewest == 1 else 'trials'} of each side{smallest}")
    if outliers := sum(cell.outliers for cell in cells):
        found.append(f"{outliers} {'outlier' if outliers == 1 else 'outliers'}, kept")
    if claim.validity == "phase":
        found += _defects(claim, run, cells)
    found += _errors(claim, run, cells)
    found += _consistent(claim, cells)
    found += _unsteady(claim, run, cells)
    found += _transport(run, cells)
    found += _disks(run, cells)
    flights = {held.levels.get("workers") for cell in cells for held in cell.sides.cells}
    if "workers" in claim.of and len(flights) > 1:
        found.append("the sides are compared at different numbers of operations in flight")
    if claim.along is not None:
        found += _span(claim.along, cells)
    if against := [cell.reversed_step for cell in cells if cell.reversed_step]:
        found.append(f"against the trend: {same_work.some(against)}")
    return found


def _defects(claim: Claim, run: Run, cells: Sequence[JudgedCell]) -> list[str]:
    """Name what was wrong in trials whose phase counts although the trial as a whole does not."""
    found = []
    for cell in dict.fromkeys(held for one in cells for held in one.sides.cells):
        pair = claim.pair
        counted, valid = (len(run.values(cell, pair, kind).by_block) for kind in ("phase", "trial"))
        if counted > valid:
            found.append(
                f"{counted - valid} of {counted} trials of {cell.label} have a defect outside this phase"
                f" ({(cell.reason or 'no reason was recorded').rstrip('.')})"
            )
    return found


def _errors(claim: Claim, run: Run, cells: Sequence[JudgedCell]) -> list[str]:
    """Name the errors behind a claim on failures: it may hold for another reason than the published one."""
    if claim.metric not in OF_FAILURES:
        return []
    trials = run.frame("trials").select("trial_id", "cell")
    errors = run.frame("errors").filter(pl.col("phase") == claim.phase).join(trials, on="trial_id")
    telling = differing([cell.sides for cell in cells])
    named = {
        held.name: ", ".join(level_words(name, held.levels[name]) for name in (*cell.sides.factors, *telling))
        for cell in cells
        for held in cell.sides.cells
    }
    counted = errors.group_by("cell", "message").agg(pl.col("operations").sum()).sort("cell", "message")
    found = [
        f"{operations:,} with {named[cell]} ({message})"
        for cell, message, operations in counted.iter_rows()
        if cell in named
    ]
    return [f"failed operations: {', '.join(found)}"] if found else []


def _consistent(claim: Claim, cells: Sequence[JudgedCell]) -> list[str]:
    """Count the cases whose published number, itself one run, lies in the 95 % prediction interval of ours."""
    if claim.published_spread is None:
        return []
    spread = math.log1p(claim.published_spread)
    inside = []
    for cell in cells:
        if cell.published and cell.ratio.fit is not None:
            one_run = replace(cell.ratio.fit, error=math.hypot(cell.ratio.fit.error, spread))
            low, high = one_run.interval()
            inside.append(low <= math.log(cell.published) <= high)
    if not inside:
        return []
    share = f"{100 * claim.published_spread:g} %"
    if len(inside) == 1:
        word = "consistent" if inside[0] else "inconsistent"
        return [f"if the published number varies by {share} from run to run, it is {word} with the rerun"]
    consistent = f"{sum(inside)} of {len(inside)} cases are consistent with them"
    return [f"if the published numbers vary by {share} from run to run, {consistent}"]


def _unsteady(claim: Claim, run: Run, cells: Sequence[JudgedCell]) -> list[str]:
    """Count the trials whose rate is that of the second half, because no part of their load was steady."""
    if not claim.metric.startswith("steady_"):
        return []
    held = list(dict.fromkeys(held for one in cells for held in one.sides.cells))
    trials, steady = (
        sum(len(run.values(cell, (claim.phase, metric), claim.validity).by_block) for cell in held)
        for metric in (claim.metric, STEADY_FROM)
    )
    if trials == steady:
        return []
    return [
        f"in {trials - steady} of {trials} trials, no part of the load was steady, so its second half counts"
    ]


def _span(along: str, cells: Sequence[JudgedCell]) -> list[str]:
    """Name the levels that a trend was followed over, and say if no numbers were published for them."""
    spans = {(cell.sides.cells[0].levels[along], cell.sides.cells[-1].levels[along]) for cell in cells}
    found = [
        f"from {level_words(along, first)} to {level_words(along, last)}" for first, last in sorted(spans)
    ]
    unknown = sum(cell.published is None for cell in cells)
    return (
        [*found, "the publication has no number for this whole range"] if 0 < unknown == len(cells) else found
    )


def _noise(cells: Sequence[JudgedCell]) -> list[str]:
    found = [cell.noise.factor for cell in cells if cell.noise is not None]
    if not found:
        return ["the noise between equal setups is unknown for this number (./bench aa)"]
    if max(found) == 1:
        return []
    return [f"noise between equal setups: {100 * (max(found) - 1):.2g} % (included in the interval)"]


def _disks(run: Run, cells: Sequence[JudgedCell]) -> list[str]:
    """Say that disks are files on one device, where storages are compared."""
    compared = {
        held.levels.get("storage")
        for one in cells
        if "storage" in one.sides.factors
        for held in one.sides.cells
    }
    return [said.rstrip(".") for storage, said in limits.one_device(run).items() if storage in compared]


def _transport(run: Run, cells: Sequence[JudgedCell]) -> list[str]:
    """Say that embedded systems have no transport in their numbers, where they are compared with servers."""
    systems = {held.system for cell in cells for held in cell.sides.cells}
    embedded = sorted(system for system in systems if run.embedded(system))
    if not embedded or len(embedded) == len(systems):
        return []
    verb = "share" if len(embedded) > 1 else "shares"
    return [f"{' and '.join(embedded)} {verb} the client's process, so those numbers include no transport"]
