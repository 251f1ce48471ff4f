"""Simulated trials of two cells with a known ratio, in the orders of real runs, with realistic noise."""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.fits import Fits, fits, moderated

Logs = NDArray[np.float64]

SPREAD = 0.1
"""Standard deviation of the logarithm of a block's ratio: 10 %, a usual machine."""
CORRELATION = 0.4
"""Correlation of a trial with the next one."""
STALLS = 0.05
"""Share of trials of one side that are stalled."""
KINDS = ("clean", "rare stalls", "heavy tails", "drift", "block effects", "autocorrelated")
BURSTS = "bursts"
"""Another load that comes and goes: it slows a tenth of the trials by 30 %, ten in a row on average."""
GROUP = 6
"""Comparisons that are measured together, in ``fitted``."""


def log_ratios(
    kind: str, seed: int, simulations: int, blocks: int, truth: float = 1.0, *,
    spread: float = SPREAD, abba: bool | None = None, correlation: float = CORRELATION,
) -> Logs:  # fmt: skip
    """Return simulations x blocks log ratios of two cells of true ratio ``truth``.

    ``spread``: the standard deviation of a block's log ratio where nothing else disturbs it.
    ``abba``: every second block is the reverse of the one before, as in a run of two cells; otherwise shuffled, as
    with more. By default autocorrelated noise meets shuffled blocks, all other noise ABBA.
    """
    chance = np.random.default_rng(seed)
    count = 2 * blocks
    one = spread / math.sqrt(2)  # of one trial
    noise = chance.normal(0, one, (simulations, count))
    if kind == "heavy tails":
        noise = one * chance.standard_t(3, (simulations, count)) / math.sqrt(3)
    elif kind == "block effects":  # the machine is faster or slower by 20 % from block to block
        noise += np.repeat(chance.normal(0, 0.2, (simulations, blocks)), 2, axis=1)
    elif kind == "drift":  # it slows down by about 15 % over the run
        noise += np.linspace(0, 0.15, count) * chance.normal(1, 0.3, (simulations, 1))
    elif kind == BURSTS:
        busy = chance.random(simulations) < 0.1
        for place in range(count):
            busy = np.where(busy, chance.random(simulations) < 0.9, chance.random(simulations) < 0.1 / 9)
            noise[:, place] += np.where(busy, math.log(1.3), 0.0)
    elif kind == "autocorrelated":
        for place in range(1, count):
            before = correlation * noise[:, place - 1]
            noise[:, place] = before + math.sqrt(1 - correlation**2) * noise[:, place]
    sides = noise.reshape(simulations, blocks, 2)
    if kind != "autocorrelated" if abba is None else abba:
        pairs = chance.random((simulations, (blocks + 1) // 2)) < 0.5
        reverse = (np.arange(blocks) % 2 == 1) ^ np.repeat(pairs, 2, axis=1)[:, :blocks]
    else:
        reverse = chance.random((simulations, blocks)) < 0.5
    differences: Logs = sides[:, :, 0] - sides[:, :, 1]
    found = math.log(truth) + np.where(reverse, -differences, differences)
    if kind == "rare stalls":  # trials of one side take 1.35 to 4.5 times as long
        stalled = chance.random((simulations, blocks)) < STALLS
        found -= np.where(stalled, chance.uniform(0.3, 1.5, (simulations, blocks)), 0.0)
    return found


@functools.cache
def fitted(kind: str, simulations: int, blocks: int, spread: float, *, among: bool = False) -> Fits:
    """Return the fits of simulated comparisons of equal cells: each alone, or ``GROUP`` of them measured together."""
    seed = blocks + 1000 * KINDS.index(kind)
    if not among:
        return fits(log_ratios(kind, seed, simulations, blocks, spread=spread))
    together = log_ratios(kind, seed, simulations, blocks, spread=spread).reshape(-1, GROUP, blocks)
    return moderated(together).flat()
