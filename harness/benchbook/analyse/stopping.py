"""Take a look at the claims of a run between two blocks: which are decided, which are hopeless, whether to stop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchbook.analyse import claims, looked, same_work
from benchbook.analyse.claim_notes import refusals
from benchbook.analyse.claims import Judgement
from benchbook.analyse.looked import Look
from benchbook.analyse.power import ENOUGH, SETTLED
from benchbook.analyse.prospect import question
from benchbook.analyse.run import Run
from benchbook.plan.sequential import FIRST, Design, Left

HOPELESS = 0.05
"""Chance of a verdict within what is left, below which a claim is given up."""
FINAL = ("not run", "substitute only", "underspecified")
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
    with run.opened():
        settled = looked.settled(before)
        open_ = [one for one in claims.of_run(run, published, now) if one.id not in settled]
        decided = [one.id for one in open_ if one.verdict in SETTLED]
        for one in open_:
            if one.id in decided:
                continue
            if why := _cannot(run, one):
                given_up[one.id] = {"why": why, "trials": None}
                continue
            asked = question(one)
            chance = (
                0.0 if last else asked.chance(left.blocks, SETTLED, design.level(left.blocks), further=True)
            )
            needed = None if chance >= HOPELESS else asked.trials_for(SETTLED, design.levels[-1])
            if last or chance >= HOPELESS:
                undecided[one.id] = {"chance": round(chance, 3), "trials": needed}
            else:
                why = f"its chance of a verdict within {left.blocks} blocks is below {100 * HOPELESS:g} %"
                given_up[one.id] = {"why": f"{why}; {trials_words(needed)}", "trials": needed}
    stopped = None
    if not undecided:
        hopeless = len(given_up) + sum(len(look["given_up"]) for look in before)
        counted = "1 claim" if hopeless == 1 else f"{hopeless} claims"
        none_left = f"more blocks could not decide the {counted} left"
        stopped = none_left if hopeless else "every claim is decided"
    elif last:
        stopped = left.limit
    continuing = [one for one in open_ if one.id in undecided and not stopped]
    return {
        "block": block, "level": now.level,
        "verdicts": {
            one.id: {"verdict": one.verdict, "measured": one.measured, "low": one.low, "high": one.high}
            for one in open_
        },
        "decided": decided, "given_up": given_up, "undecided": undecided, "cells": _cells(continuing),
        "stopped": stopped,
    }  # fmt: skip


def sentence(look: dict[str, Any]) -> str:
    """Return a look as one line."""
    parts = [f"{name} is decided ({look['verdicts'][name]['verdict']})" for name in look["decided"]]
    parts += [f"{name} is given up: {held['why']}" for name, held in look["given_up"].items()]
    enough = look["stopped"] and look["block"] >= FIRST
    open_ = [
        f"{name} ({trials_words(held['trials'])})" if enough else name
        for name, held in look["undecided"].items()
    ]
    parts += [f"undecided: {', '.join(open_)}"] if open_ else []
    parts += [f"the run ends: {look['stopped']}"] if look["stopped"] else []
    return f"look after block {look['block']} (level {look['level']:.2g}): {'; '.join(parts)}"


def trials_words(trials: int | None) -> str:
    """Return how many trials a verdict needs.

    >>> trials_words(40)
    'about 40 trials of each side would decide it with 80 % chance'
    """
    if trials is None:
        return "no number of trials would decide it at the measured ratio and spread"
    return f"about {trials} trials of each side would decide it with {100 * ENOUGH:g} % chance"


def _cannot(run: Run, one: Judgement) -> str:
    """Return why no further trial can decide a claim; empty where one may."""
    if one.verdict in FINAL:
        return f"its verdict is {one.verdict}"
    if one.test == "agree":
        return "further trials repeat the same answers"
    if not one.cells:
        return one.reason.partition("; ")[0]
    if all(cell.unfit for cell in one.cells):
        return one.cells[0].unfit
    return "; ".join(refusals(one.cells, same_work.of_run(run)))


def _cells(continuing: Sequence[Judgement]) -> list[str]:
    """Return the cells that undecided claims compare."""
    return list(
        dict.fromkeys(held.name for one in continuing for cell in one.cells for held in cell.sides.cells)
    )
