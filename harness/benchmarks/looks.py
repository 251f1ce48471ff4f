"""Simulate runs whose claims are judged after every block: the error of all looks together, and the blocks they save.

    cd harness && PYTHONPATH=. python benchmarks/looks.py

Writes the tables of docs/methods.md on ``--until-decided``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchbook.analyse.model import ALPHA
from benchbook.analyse.power import SETTLED
from benchbook.declare.expectation import Expectation
from benchbook.plan.sequential import FIRST, levels
from benchmarks.fits import fits, verdicts
from benchmarks.power import METHODS, PUBLISHED, row, write
from tests.analyse.simulated import KINDS, SPREAD, log_ratios

SIMULATIONS = 3000
MAXIMA = (12, 24, 40)
TRUTHS = (1.0, 1.5, 1.9, 2.0, 2.3, 3.0)
SPREADS = (0.1, 0.2)


def peeking(maximum: int) -> tuple[float, ...]:
    """Return the levels of looks that all test at 5 %, as if each were the only one."""
    return (ALPHA,) * (maximum - FIRST + 1)


def differ(kind: str, simulations: int, maximum: int, at: Sequence[float]) -> float:
    """Return the share of runs of equal systems in which some look says that they differ."""
    logs = log_ratios(kind, 1000 + maximum, simulations, maximum)
    wrong = np.zeros(simulations, dtype=bool)
    for block, level in enumerate(at, start=FIRST):
        made = fits(logs[:, :block])
        wrong |= 2 * np.minimum(made.above(0.0), made.below(0.0)) <= level
    return float(wrong.mean())


def ended(
    simulations: int,
    maximum: int,
    at: Sequence[float],
    expected: Expectation,
    truth: float,
    spread: float = SPREAD,
) -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    """Return the verdict of each run on one claim, and the number of blocks after which it ended."""
    logs = log_ratios("clean", maximum, simulations, maximum, truth, spread=spread)
    words = np.full(simulations, "inconclusive", dtype="<U16")
    blocks = np.full(simulations, maximum)
    going = np.arange(simulations)
    for block, level in enumerate(at, start=FIRST):
        words[going] = verdicts(fits(logs[going, :block]), expected, level)
        settled = np.isin(words[going], SETTLED)
        blocks[going[settled]] = block
        going = going[~settled]
        if not going.size:
            break
    return words, blocks


def main() -> None:
    errors = [
        row(
            [kind, str(maximum)],
            [differ(kind, SIMULATIONS, maximum, at) for at in (peeking(maximum), levels(maximum))],
        )
        for kind in KINDS
        for maximum in MAXIMA
    ]
    saved = [_saved(spread, truth) for spread in SPREADS for truth in TRUTHS]
    heads = ["noise", "blocks at most", "every look at 5 %", "`--until-decided`"]
    write(METHODS, "looks", heads, errors, by="looks")
    heads = ["spread", "true ratio", "settled, 40 trials", "settled, looks", "mean blocks", "90th percentile"]
    write(METHODS, "blocks", heads, saved, by="looks")


def _saved(spread: float, truth: float) -> str:
    """Return a row on "2 within 10 %": how often and when looks settle it, against a fixed number of trials."""
    maximum = MAXIMA[-1]
    once = (0.0,) * (maximum - FIRST) + (ALPHA,)
    fixed, _ = ended(SIMULATIONS, maximum, once, PUBLISHED, truth, spread)
    words, blocks = ended(SIMULATIONS, maximum, levels(maximum), PUBLISHED, truth, spread)
    shares = [f"{100 * np.isin(said, SETTLED).mean():.1f} %" for said in (fixed, words)]
    length = [f"{blocks.mean():.1f}", f"{np.quantile(blocks, 0.9):.0f}"]
    return f"| {' | '.join([f'{100 * spread:g} %', f'{truth:g}', *shares, *length])} |"


if __name__ == "__main__":
    main()
