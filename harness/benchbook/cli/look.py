"""The looks of ``--until-decided``: the claims are judged between blocks, within the maximum and the budget."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchbook.declare.catalogue import Catalogue
from benchbook.plan.plan import Plan
from benchbook.plan.sequential import Design, Left
from benchbook.run.engine import TakeLook
from benchbook.run.progress import Observer


def take_look(made: Plan, results: Path, observer: Observer) -> TakeLook | None:
    """Return the function that judges the claims of a run between its blocks; None for a run without looks."""
    if made.sequential is None:
        return None
    design = Design.parse(made.sequential)
    results = results.resolve()

    def look(blocks: int) -> dict[str, Any] | None:
        from benchbook.analyse import stopping
        from benchbook.record import looks
        from benchbook.report import reasons

        taken = looks.read(results / "runs" / made.run_id)
        left = _left(made, design, results, blocks, taken[-1]["cells"] if taken else made.cells())
        # Too few blocks for a look: only the budget ends the run there, after one block at the earliest.
        if blocks < design.first and (not blocks or left.blocks > blocks):
            return None
        published = Catalogue().published(made.experiment)
        found = stopping.take(results, made.run_id, published, design, blocks, left, taken)
        observer.note(reasons.look(found))
        return found

    return look


def end_before(made: Plan, results: Path, seconds: float) -> TakeLook:
    """Return the function that ends a run between two blocks before its trials take longer than this."""
    results = results.resolve()

    def look(blocks: int) -> dict[str, Any] | None:
        spent = _spent(results, made.run_id)
        if not 0 < blocks < made.trials_per_cell or spent + spent / blocks <= seconds:
            return None
        room = f"the {seconds:.0f} s that the budget leaves for it have no room for another block ({spent:.0f} s spent)"
        return {"block": blocks, "cells": [], "stopped": room}

    return look


def _left(made: Plan, design: Design, results: Path, blocks: int, cells: list[str]) -> Left:
    """Return how many blocks the maximum and the budget allow, by the length of the trials so far."""
    most = Left(design.maximum, f"the maximum of {design.maximum} blocks is reached")
    if design.budget_seconds is None:
        return most
    lengths = _lengths(results, made.run_id)
    every = [one for held in lengths.values() for one in held]
    spent = sum(every)
    if design.noise_run is not None:
        spent += _spent(results, design.noise_run)
    usual = sum(every) / len(every) if every else made.trial_seconds
    next_block = sum(sum(lengths[cell]) / len(lengths[cell]) if cell in lengths else usual for cell in cells)
    reachable = blocks + max(0, int((design.budget_seconds - spent) / max(next_block, 1e-9)))
    if reachable >= design.maximum:
        return most
    budget = f"the budget of {design.budget_seconds:g} s has no room for another block ({spent:.0f} s spent)"
    return Left(reachable, budget)


def _spent(results: Path, run_id: str) -> float:
    return sum(map(sum, _lengths(results, run_id).values()))


def _lengths(results: Path, run_id: str) -> Mapping[str, list[float]]:
    """Return the seconds of the trials of a run, by cell."""
    from benchbook.record.trial import read_all

    found: dict[str, list[float]] = {}
    for trial in read_all(results / "runs" / run_id, lambda _: None):
        if seconds := trial.get("duration_seconds"):
            found.setdefault(trial["cell"], []).append(seconds)
    return found
