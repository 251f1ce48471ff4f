"""Take a look at the claims of a run between two blocks: which are decided, which are hopeless, whether to stop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchbook.analyse import claims, grade, looked, same_work
from benchbook.analyse.claim_notes import refusals
from benchbook.analyse.claims import Judgement
from benchbook.analyse.looked import Look
from benchbook.analyse.power import SETTLED
from benchbook.analyse.prospect import question
from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.plan.sequential import Design, Left

HOPELESS = 0.05
"""Chance of a verdict within what is left, below which a claim is given up."""
FINAL = ("not run", "substitute only", "underspecified", "out of reach here")
"""Verdicts that more trials of this run cannot change."""


def take(
    results: Path, run_id: str, published: Path, design: Design, block: int, left: Left,
    before: Sequence[dict[str, Any]],
) -> dict[str, Any]:  # fmt: skip
    """Return the look after ``block`` blocks: verdicts, what is decided or given up, and the cells that continue.

    ``before`` holds the earlier looks; claims that one of them settled are not judged again.
    """
    now = Look(block, design.level(block))
    last = left.blocks <= block
    run = Run(results, run_id)
    given_up: dict[str, dict[str, Any]] = {}
    undecided: dict[str, dict[str, Any]] = {}
    with run.connected():
        settled = looked.settled(before)
        open_ = [one for one in claims.of_run(run, published, now) if one.id not in settled]
        decided = [one.id for one in open_ if one.verdict in SETTLED]
        for one in open_:
            if one.id in decided:
                continue
            if why := _cannot(run, one):
                given_up[one.id] = {"reasons": [reason.row() for reason in why], "trials": None}
                continue
            asked = question(one)
            chance = (
                0.0 if last else asked.chance(left.blocks, SETTLED, design.level(left.blocks), further=True)
            )
            needed = None if chance >= HOPELESS else asked.trials_for(SETTLED, design.levels[-1])
            if last or chance >= HOPELESS:
                undecided[one.id] = {"chance": round(chance, 3), "trials": needed}
            else:
                hopeless = because("hopeless", blocks=left.blocks, least=HOPELESS, trials=needed)
                given_up[one.id] = {"reasons": [hopeless.row()], "trials": needed}
    stopped = None
    if not undecided:
        lost = len(given_up) + sum(len(look["given_up"]) for look in before)
        counted = "1 claim" if lost == 1 else f"{lost} claims"
        stopped = f"more blocks could not decide the {counted} left" if lost else "every claim is decided"
    elif last:
        stopped = left.limit
    continuing = [one for one in open_ if one.id in undecided and not stopped]
    return {
        "block": block, "level": now.level,
        "verdicts": {
            one.id: {
                "holds": grade.reading(one).holds, "size": grade.reading(one).size, "verdict": one.verdict,
                "measured": one.measured, "low": one.low, "high": one.high,
            }
            for one in open_
        },
        "decided": decided, "given_up": given_up, "undecided": undecided, "cells": _cells(continuing),
        "stopped": stopped,
    }  # fmt: skip


def _cannot(run: Run, one: Judgement) -> list[Reason]:
    """Return why no further trial can decide a claim; empty where one may."""
    if one.verdict in FINAL:
        return [because("final", holds=grade.reading(one).holds)]
    if one.test == "agree":
        return [because("same-answers")]
    if not one.cells:
        return list(one.reasons[:1])
    unfit = [cell.unfit for cell in one.cells if cell.unfit]
    if len(unfit) == len(one.cells):
        return unfit[:1]
    return refusals(one.cells, same_work.of_run(run))


def _cells(continuing: Sequence[Judgement]) -> list[str]:
    """Return the cells that undecided claims compare."""
    return list(
        dict.fromkeys(held.name for one in continuing for cell in one.cells for held in cell.sides.cells)
    )
