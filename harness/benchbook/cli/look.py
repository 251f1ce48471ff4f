"""The looks of ``--until-decided`` and of gates: a run is judged between blocks, within a maximum and a budget."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.declare.catalogue import Catalogue
from benchbook.plan.gating import Gate
from benchbook.plan.plan import Plan
from benchbook.plan.sequential import Design, Left
from benchbook.run.engine import TakeLook
from benchbook.run.progress import Observer


def take_look(made: Plan, results: Path, observer: Observer) -> TakeLook | None:
    """Return the function that judges a run between its blocks; None for a run without looks."""
    results = results.resolve()
    if made.gate is not None:
        return _gate(made, Gate.parse(made.gate), results, observer)
    if made.sequential is None:
        return None
    design = Design.parse(made.sequential)

    def look(blocks: int) -> dict[str, Any] | None:
        from benchbook.analyse import stopping
        from benchbook.record import database, looks
        from benchbook.report import reasons

        taken = looks.read(results / "runs" / made.run_id)
        left = _left(made, design, results, blocks, taken[-1]["cells"] if taken else made.cells())
        # Too few blocks for a look: only the budget ends the run there, after one block at the earliest.
        if blocks < design.first and (not blocks or left.blocks > blocks):
            return None
        database.catch_up(results)
        published = Catalogue().published(made.experiment)
        found = stopping.take(results, made.run_id, published, design, blocks, left, taken)
        observer.note(reasons.look(found))
        return found

    return look


def _gate(made: Plan, design: Gate, results: Path, observer: Observer) -> TakeLook:
    """Return the function that judges a gate between its blocks, until it is decided or the budget is spent."""
    folder = results / "runs" / made.run_id
    clock = Clock(_used(results, made.run_id))

    def look(blocks: int) -> dict[str, Any] | None:
        from benchbook.analyse import gated
        from benchbook.analyse.gate import Look, due, overall
        from benchbook.analyse.run import Run
        from benchbook.record import database, looks
        from benchbook.report import gate

        spent = clock.seconds()
        if not blocks:
            return None
        last = blocks >= made.trials_per_cell or spent + spent / blocks > design.budget_seconds
        before = [Look(one["block"], one["share"]) for one in looks.read(folder)]
        if not (last or due(blocks, before)):
            return None
        used = max(spent / design.budget_seconds, blocks / made.trials_per_cell)
        now = Look(blocks, 1.0 if last else min(used, 1.0))
        database.catch_up(results)
        rows = gated.rows(Run(results, made.run_id), design, [*before, now])
        word = overall(row.answer for row in rows)
        stopped: str | None = word if word != "open" else None
        if not stopped and last:
            stopped = f"the budget of {design.budget_seconds:g} s has no room for another block ({spent:.0f} s spent)"
        elif not any(row.answer.trials for row in rows):
            stopped = f"no metric has a value of base and head after {blocks} blocks"
        observer.note(gate.look(rows, now, stopped))
        return {
            "block": blocks, "share": now.share, "answers": {row.name: row.answer.word for row in rows},
            "cells": [] if stopped else made.cells(), "stopped": stopped, "spent_seconds": spent,
        }  # fmt: skip

    return look


def _used(results: Path, run_id: str) -> float:
    """Return the time that a gate had used before: at its last look if that is more than its trials took.

    The share of the budget must not shrink when a gate is resumed: its error would be spent twice.
    """
    from benchbook.record import looks

    stated = [one.get("spent_seconds") or 0.0 for one in looks.read(results / "runs" / run_id)]
    return max([_spent(results, run_id), *stated])


@dataclass
class Clock:
    """The time that a run has used: its trials, and what is between them, from the first one on."""

    earlier_seconds: float
    """Time that was used before the run was interrupted."""
    began: float | None = None

    def seconds(self) -> float:
        """Return the time so far; the first call starts the clock."""
        now = time.monotonic()
        if self.began is None:
            self.began = now
        return self.earlier_seconds + now - self.began


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
