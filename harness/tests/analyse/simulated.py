"""Simulated trials of two cells with a known ratio, in the orders of real runs, with realistic noise."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Logs = NDArray[np.float64]

SPREAD = 0.04
"""Standard deviation of one trial's logarithm: 4 %, a good machine."""
CORRELATION = 0.4
"""Correlation of a trial with the next one, from the state that a load leaves on the machine."""
KINDS = ("lognormal", "heavy tails", "block effects", "drift", "autocorrelated")


def log_ratios(
    kind: str, seed: int, simulations: int, blocks: int, truth: float = 1.0, *,
    abba: bool | None = None, correlation: float = CORRELATION,
) -> Logs:  # fmt: skip
    """Return simulations x blocks log ratios of two cells of true ratio ``truth``.

    ``abba``: every second block is the reverse of the one before, as in a run of two cells; otherwise shuffled, as
    with more. By default autocorrelated noise meets shuffled blocks, all other noise ABBA.
    """
    chance = np.random.default_rng(seed)
    count = 2 * blocks
    noise = chance.normal(0, SPREAD, (simulations, count))
    if kind == "heavy tails":
        noise = SPREAD * chance.standard_t(3, (simulations, count)) / math.sqrt(3)
    elif kind == "block effects":  # the machine is faster or slower by 20 % from block to block
        noise += np.repeat(chance.normal(0, 0.2, (simulations, blocks)), 2, axis=1)
    elif kind == "drift":  # it slows down by about 15 % over the run
        noise += np.linspace(0, 0.15, count) * chance.normal(1, 0.3, (simulations, 1))
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
    return math.log(truth) + np.where(reverse, -differences, differences)
