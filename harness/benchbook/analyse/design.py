"""How many blocks a session should have, if sessions on other processors follow it.

Blocks narrow only what varies within a session. What varies between processors is averaged by sessions alone, and each
of them also takes time beside its blocks (data, calibration, the speed of the disk).

Source: T. Kalibera and R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013: the number of repetitions of a
level that gives the narrowest interval for the time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from benchbook.analyse.alike import kind_of
from benchbook.analyse.learned import priors
from benchbook.analyse.model import FEWEST
from benchbook.analyse.prospect import Prospect
from benchbook.analyse.run import Run
from benchbook.declare.claim import Claim


def blocks(spread: float, between: float, block_seconds: float, session_seconds: float) -> int:
    """Return the blocks of a session at which the interval over processors is narrowest for the time; at least 3.

    ``spread`` is the deviation of one block, and ``between`` that between processors, both of log ratios. A session
    takes ``session_seconds`` beside its blocks.

    >>> blocks(0.14, 0.07, 60, 960), blocks(0.14, 0.07, 60, 60)
    (8, 3)
    """
    best = spread / between * math.sqrt(session_seconds / block_seconds)
    nearest = [max(1, math.floor(best)), math.floor(best) + 1]

    def cost(count: int) -> float:
        return (spread**2 / count + between**2) * (session_seconds + count * block_seconds)

    return max(FEWEST, min(nearest, key=cost))


def session_seconds(run: Run) -> float | None:
    """Return how long a run took beside its trials; None while it is unfinished.

    A run that was interrupted and resumed took longer than its session would.
    """
    text = (
        "SELECT max(epoch(r.finished_at) - epoch(r.started_at)) - sum(t.duration_seconds) "
        "FROM runs r JOIN trials t USING (run_id) WHERE r.run_id = ?"
    )
    seconds = run.query(text).item()
    return None if seconds is None else max(0.0, float(seconds))


def of_plan(
    chances: Iterable[Prospect], claims: Iterable[Claim], block_seconds: float, session: float
) -> int | None:
    """Return the blocks of a session that suit the claim that needs most of them; None if no claim has a prior."""
    metrics = {one.id: one.metric for one in claims}
    found = []
    for one in chances:
        kind = kind_of(metrics[one.claim])
        if kind is not None and (prior := priors().get(kind)) is not None:
            found.append(blocks(math.log1p(one.spread), prior.scale, block_seconds, session))
    return max(found, default=None)
