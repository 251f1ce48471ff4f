"""Notes beside the verdict on a claim, and reasons that forbid a verdict."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from benchbook.analyse import limits, looked, same_work
from benchbook.analyse.claim_cells import differing
from benchbook.analyse.claim_evidence import OF_FAILURES, JudgedCell
from benchbook.analyse.model import FEW
from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.analyse.same_work import SameWork
from benchbook.declare.claim import MARGIN, ONE_SIDED, Claim
from benchbook.declare.experiment import LIMIT_FACTORS, PLACE_FACTORS
from benchbook.measure.steady import STEADY_FROM


def corrected_after(claim: Claim, run: Run) -> bool:
    """Return whether a claim has corrections that a run did not declare yet."""
    recorded = [one for one in run.declared.get("claims") or [] if one.get("id") == claim.id]
    then = [one.get("corrected") or [] for one in recorded]
    return bool(claim.corrected) and [one.model_dump(mode="json") for one in claim.corrected] not in then


def reworded_after(claim: Claim, run: Run) -> bool:
    """Return whether a run declared a claim in other words, without a correction: its declaration has those."""
    recorded = [one for one in run.declared.get("claims") or [] if one.get("id") == claim.id]
    words = claim.model_dump(mode="json", include={"statement", "source", "conclusion"})
    differ = any(one.get(name, held) != held for one in recorded for name, held in words.items())
    return differ and not corrected_after(claim, run)


def refusals(cells: Sequence[JudgedCell], work: SameWork) -> list[Reason]:
    """Return why cases may not be judged: other work, or other answers."""
    found: list[Reason] = []
    for cell in cells:
        by_intent = any(factor not in (*PLACE_FACTORS, *LIMIT_FACTORS) for factor in cell.sides.factors)
        found += same_work.mixture(cell.sides.cells, data_differ=by_intent)
    found += work.faults({(held.system, held.arm) for cell in cells for held in cell.sides.cells})
    return list(dict.fromkeys(found))


def declared_later(claim: Claim, used: Collection[str], groups: Sequence[Sequence[Run]]) -> list[Reason]:
    """Say how many of the runs that were ``used`` did not declare the claim: whoever declared it may have seen them."""
    runs = {one.run_id: one for group in groups for one in group if one.run_id in used}
    without = sum(not _declares(one, claim) for one in runs.values())
    return [because("declared-later", runs=without, of=len(runs))] if without else []


def _declares(run: Run, claim: Claim) -> bool:
    """Return whether a run declared a claim with the same meaning, in whatever words."""
    for held in run.declared.get("claims") or []:
        if held.get("id") == claim.id:
            try:
                return without_words(Claim.model_validate(as_meant(held))) == without_words(claim)
            except ValueError:  # written by another version
                return False
    return False


WORDS = {"statement", "source", "corrected", "added", "conclusion", "counted_with"}
"""Keys of a claim that no verdict depends on."""


def without_words(claim: Claim) -> str:
    """Return what is judged, as text that can be compared."""
    return claim.model_dump_json(exclude=WORDS)


def as_meant(held: dict[str, Any]) -> dict[str, Any]:
    """Return a recorded claim without the margin that older runs wrote for every test that declared none."""
    older = "validity" not in held and held.get("test") in ONE_SIDED and held.get("margin") == MARGIN
    return {name: value for name, value in held.items() if not (older and name == "margin")}


def notes(claim: Claim, run: Run, cells: Sequence[JudgedCell], *, several: bool = False) -> list[Reason]:
    """Return the notes on judged cases; ``several``: the verdict rests on more runs than this one."""
    found = []
    if corrected_after(claim, run):
        last = claim.corrected[-1]
        found.append(because("corrected", date=last.date.isoformat(), reason=last.reason))
    if run.profile == "smoke":
        found.append(because("smoke"))
    if run.info.get("finished_at") is None:
        found.append(because("unfinished"))
    found += _noise(cells)
    found += looked.note(run)
    fewest = min(cell.trials for cell in cells)
    if fewest < FEW:
        smallest = any(cell.trials > fewest for cell in cells)
        of_run = {"of_run": True} if several else {}
        found.append(because("few-trials", trials=fewest, smallest=smallest, **of_run))
    if outliers := sum(cell.outliers for cell in cells):
        found.append(because("outliers", number=outliers))
    if claim.validity == "phase":
        found += _defects(claim, run, cells)
    found += _errors(claim, run, cells)
    found += _consistent(claim, cells)
    found += _unsteady(claim, run, cells)
    found += _transport(run, cells)
    found += _disks(run, cells)
    flights = {held.levels.get("workers") for cell in cells for held in cell.sides.cells}
    if "workers" in claim.of and len(flights) > 1:
        found.append(because("in-flight"))
    if claim.along is not None:
        found += _span(claim.along, cells)
    if against := [cell.reversed_step for cell in cells if cell.reversed_step]:
        found.append(because("against-trend", steps=against))
    return found


def _defects(claim: Claim, run: Run, cells: Sequence[JudgedCell]) -> list[Reason]:
    """Name what was wrong in trials whose phase counts although the trial as a whole does not."""
    found = []
    for cell in dict.fromkeys(held for one in cells for held in one.sides.cells):
        pair = claim.pair
        counted, valid = (len(run.values(cell, pair, kind).by_block) for kind in ("phase", "trial"))
        if counted > valid:
            trials = counted - valid
            found.append(because("defects", trials=trials, of=counted, setup=cell.label, why=cell.reason))
    return found


def _errors(claim: Claim, run: Run, cells: Sequence[JudgedCell]) -> list[Reason]:
    """Name the errors behind a claim on failures: it may hold for another reason than the published one."""
    if claim.metric not in OF_FAILURES:
        return []
    trials = run.frame("trials").select("trial_id", "cell")
    errors = (
        run.frame("errors")
        .filter(pl.col("phase").is_in(claim.phases or [claim.phase]))
        .join(trials, on="trial_id")
    )
    telling = differing([cell.sides for cell in cells])
    named = {
        held.name: {name: held.levels[name] for name in (*cell.sides.factors, *telling)}
        for cell in cells
        for held in cell.sides.cells
    }
    counted = errors.group_by("cell", "message").agg(pl.col("operations").sum()).sort("cell", "message")
    found = [
        {"operations": operations, "case": named[cell], "message": message}
        for cell, message, operations in counted.iter_rows()
        if cell in named
    ]
    return [because("failures", failures=found)] if found else []


def _consistent(claim: Claim, cells: Sequence[JudgedCell]) -> list[Reason]:
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
    consistent = sum(inside)
    return [
        because("published-spread", spread=claim.published_spread, consistent=consistent, cases=len(inside))
    ]


def _unsteady(claim: Claim, run: Run, cells: Sequence[JudgedCell]) -> list[Reason]:
    """Count the trials whose rate is that of the second half, because no part of their load was steady."""
    if not claim.metric.startswith("steady_"):
        return []
    held = dict.fromkeys(
        (claim.at_case(one.sides.levels).phase, held) for one in cells for held in one.sides.cells
    )
    trials, steady = (
        sum(len(run.values(cell, (phase, metric), claim.validity).by_block) for phase, cell in held)
        for metric in (claim.metric, STEADY_FROM)
    )
    if trials == steady:
        return []
    return [because("unsteady", trials=trials - steady, of=trials)]


def _span(along: str, cells: Sequence[JudgedCell]) -> list[Reason]:
    """Name the levels that a trend was followed over, and say if no numbers were published for them."""
    spans = {(cell.sides.cells[0].levels[along], cell.sides.cells[-1].levels[along]) for cell in cells}
    found = [because("span", factor=along, first=first, last=last) for first, last in sorted(spans)]
    unknown = sum(cell.published is None for cell in cells)
    return [*found, because("no-number-for-span")] if 0 < unknown == len(cells) else found


def _noise(cells: Sequence[JudgedCell]) -> list[Reason]:
    found = [cell.noise.factor for cell in cells if cell.noise is not None]
    if not found:
        return [because("noise-unknown")]
    if max(found) == 1:
        return []
    return [because("noise", factor=max(found))]


def _disks(run: Run, cells: Sequence[JudgedCell]) -> list[Reason]:
    """Say that disks are files on one device, where storages are compared."""
    compared = {
        held.levels.get("storage")
        for one in cells
        if "storage" in one.sides.factors
        for held in one.sides.cells
    }
    return [one for one in limits.one_device(run) if one.facts["storage"] in compared]


def _transport(run: Run, cells: Sequence[JudgedCell]) -> list[Reason]:
    """Say that embedded systems have no transport in their numbers, where they are compared with servers."""
    systems = {held.system for cell in cells for held in cell.sides.cells}
    embedded = sorted(system for system in systems if run.embedded(system))
    if not embedded or len(embedded) == len(systems):
        return []
    return [because("transport", systems=embedded)]
