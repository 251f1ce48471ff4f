"""The design of ``--until-decided``: how many blocks at most, and at which level each look judges the claims.

Judging at 5 % after every block is wrong in 22 (12 blocks) to 31 (40 blocks) of 100 runs of equal systems. Here the
5 % are spent over the looks: after a share t of the maximum, at most ``SPENT * ALPHA * t ** POWER`` is spent
(Lan and DeMets 1983, with the power family of Kim and DeMets 1987). All levels are in the plan before the first trial.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from benchbook.declare import duration
from benchbook.errors import RequestError

FIRST = 3
"""Blocks before the first look: fewer give no interval."""
TIMES = 4
"""Default maximum, as a multiple of the profile's trials."""
MOST = 400
"""The largest maximum: its levels take seconds to compute."""
ALPHA = 0.05
POWER = 1.5
"""Exponent of the spending function: above 1, early looks spend less."""
SIMULATIONS = 60_000
SPENT = 0.6
"""Share of ``ALPHA`` that the looks spend. The rest covers the model: with few trials, p-values of Huber's mean are
small more often than they say (``benchmarks/looks.py`` shows the error of both together)."""
_SEED = 1983


@dataclass(frozen=True)
class Design:
    """The rules of a run with looks, fixed before its first trial."""

    maximum: int
    """Blocks at most."""
    levels: tuple[float, ...]
    """Level of the look after each block, from block ``first`` on."""
    budget_seconds: float | None = None
    """Time that all trials together may take; None for no limit."""
    first: int = FIRST
    spending: str = f"{SPENT * ALPHA:g} x (block / maximum) ^ {POWER:g}"
    noise_run: str | None = None
    """The A/A run that precedes it; the budget includes its trials."""
    noise_seconds: float | None = None
    """Time that the trials of the A/A run may take; None for no limit."""

    def level(self, block: int) -> float:
        """Return the level of the look after ``block`` blocks."""
        return self.levels[max(0, min(block, self.maximum) - self.first)]

    def stored(self) -> dict[str, Any]:
        """Return it as plan.json holds it."""
        return asdict(self)

    @staticmethod
    def parse(held: dict[str, Any]) -> Design:
        """Return the design that plan.json or run.json holds."""
        return Design(**{**held, "levels": tuple(held["levels"])})


@dataclass(frozen=True)
class Left:
    """The blocks that a run may still have."""

    blocks: int
    """The last block that the maximum and the budget allow, counted from 1."""
    limit: str
    """Why the run ends there, in words."""


def design(maximum: int, budget_seconds: float | None = None) -> Design:
    """Return the design of a run of at most ``maximum`` blocks. Raises RequestError for too few or too many."""
    if not FIRST <= maximum <= MOST:
        raise RequestError(
            f"--until-decided with at most {maximum} trials: allowed are {FIRST} to {MOST}.",
            f"The first look comes after {FIRST} blocks. Give another number with --trials.",
        )
    return Design(maximum, levels(maximum), budget_seconds)


def budget(text: str) -> float:
    """Return the seconds of ``--budget``.

    >>> budget("1h30m")
    5400.0
    """
    try:
        return duration.seconds(text)
    except ValueError as error:
        raise RequestError(f"--budget {text}: {error}.", 'Write it as "2h", "90m" or "1h30m".') from None


def levels(maximum: int, first: int = FIRST, simulations: int = SIMULATIONS) -> tuple[float, ...]:
    """Return the level of each look, so that all looks together are wrong in about 5 % of runs.

    Looks at the same trials depend on each other, so each may use more than its share of ``ALPHA`` (Bonferroni). How
    much more is simulated: for a variance that is estimated (Student's t) and for a known one, each one-sided and
    two-sided. A look takes the smallest of the four levels, because moderated variances lie between the two.

    >>> [round(level, 3) for level in levels(4)]
    [0.019, 0.015]
    """
    import numpy as np
    from scipy.special import ndtr, stdtr

    chance = np.random.default_rng(_SEED)
    total, squares = np.zeros(simulations), np.zeros(simulations)
    # For each kind of test: whether no look until now has rejected.
    silent = [np.ones(simulations, dtype=bool) for _ in range(4)]
    found: list[float] = []
    for block in range(1, maximum + 1):
        drawn = chance.standard_normal(simulations)
        total += drawn
        squares += drawn * drawn
        if block < first:
            continue
        variance = np.maximum(squares - total * total / block, 1e-12) / (block - 1)
        known = ndtr(-total / np.sqrt(block))
        unknown = stdtr(block - 1, -total / np.sqrt(block * variance))
        tests = [p for one in (known, unknown) for p in (one, 2 * np.minimum(one, 1 - one))]
        may_reject = int(SPENT * ALPHA * (block / maximum) ** POWER * simulations)
        level = ALPHA
        for p, still in zip(tests, silent, strict=True):
            left = max(may_reject - int(simulations - still.sum()), 0)
            level = min(level, float(np.partition(p[still], left)[left]))
        found.append(level)
        silent = [still & (p >= level) for p, still in zip(tests, silent, strict=True)]
    return tuple(found)
