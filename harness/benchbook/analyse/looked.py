"""The looks of a run that continues until its claims are decided: which one judges each claim, and why it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.plan.sequential import Design


@dataclass(frozen=True)
class Look:
    """The look at which a claim is judged."""

    block: int
    """Number of blocks that it judged."""
    level: float


def design(run: Run) -> Design | None:
    """Return the design of a run with looks; None for a run whose number of trials was fixed."""
    held = run.facts("sequential")
    return Design.parse(held) if "levels" in held else None


def taken(run: Run) -> list[dict[str, Any]]:
    """Return the looks in their order."""
    return run.fact_list("looks")


def settled(looks: Sequence[dict[str, Any]]) -> dict[str, Look]:
    """Return claim → the look that decided it or gave it up."""
    return {
        claim: Look(look["block"], look["level"])
        for look in looks
        for claim in [*look["decided"], *look["given_up"]]
    }


def part(run: Run, claim: str, now: Look | None = None) -> Run:
    """Return what a claim is judged on: the blocks of its look, at that level; the whole run if it has no looks.

    Its look is ``now`` while that is taken; later the one that settled the claim, else the last. Judging it again on
    the blocks that came later would spend the level twice.
    """
    made = design(run)
    if made is None:
        return run
    looks = taken(run)
    last = Look(looks[-1]["block"], looks[-1]["level"]) if looks else Look(made.first, made.level(made.first))
    look = now or settled(looks).get(claim, last)
    return run.until(look.block, look.level)


def note(run: Run) -> list[Reason]:
    """Return the note on a verdict that a look gave; none for a whole run."""
    made = None if run.blocks is None else design(run)
    if made is None:
        return []
    return [because("look", blocks=run.blocks, maximum=made.maximum, level=run.level)]
