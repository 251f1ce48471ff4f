"""Simulate runs on several processors: what their estimate covers, and how often two studies contradict each other.

    cd harness && PYTHONPATH=. python benchmarks/sessions.py

Writes the tables of docs/methods.md, from 4,000 simulated studies per number.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchbook.analyse.model import Fit
from benchbook.analyse.processors import Between, equal, estimate
from benchmarks.power import METHODS, write

SIMULATIONS = 4000
PRIOR = Between(0.1)
ERROR, BLOCKS = 0.03, 10
"""True error of the log ratio of a run, from 10 blocks."""
NOISE = 0.02
"""True deviation between equal setups."""
EFFECT = 0.3
"""Standard deviation of true log ratios, where two studies are compared."""

Chance = np.random.Generator
KINDS = {"0 %": 0.0, "5 %": 0.05, "10 %": 0.1, "20 %": 0.2}
"""Standard deviation between processors."""
DRAWN = "as the prior"
DESIGNS = {"one run": (1, 1), "1": (1, 1), "1, 3 runs": (1, 3), "2": (2, 1), "3": (3, 1), "5": (5, 1)}
"""Column → processors, and runs on each. The first is judged as pages judge a run."""
ALONE = "one run"


@dataclass(frozen=True)
class Found:
    """Shares of simulated studies."""

    mean: float
    """Intervals that hold the mean over processors."""
    another: float
    """Intervals that hold the ratio of another processor."""
    opposite: float
    """Pairs of studies of one ratio that call different sides higher."""
    decided: float
    """Studies that call a side higher."""


def main() -> None:
    names = [*KINDS, DRAWN]
    head = ["between processors", *DESIGNS]
    covered = [_row(name, lambda one: f"{100 * one.mean:.0f} %, {100 * one.another:.0f} %") for name in names]
    verdicts = [
        _row(name, lambda one: f"{100 * one.opposite:.1f} %, {100 * one.decided:.0f} %") for name in names
    ]
    write(METHODS, "processors", head, covered, "sessions")
    write(METHODS, "opposite", head, verdicts, "sessions")


def _row(kind: str, text: Callable[[Found], str]) -> str:
    return f"| {kind} | " + " | ".join(text(simulated(kind, name)) for name in DESIGNS) + " |"


@functools.cache
def simulated(kind: str, design: str, simulations: int = SIMULATIONS) -> Found:
    """Return what studies of a design show, each of a ratio, by the deviation between processors."""
    chance = np.random.default_rng([17, [*KINDS, DRAWN].index(kind), [*DESIGNS].index(design)])
    processors, runs = DESIGNS[design]
    held = np.zeros(4)
    for _ in range(simulations):
        deviation = _deviations(kind, chance)
        truth = EFFECT * chance.normal()
        studies = [
            [[truth + own] * runs for own in (deviation() for _ in range(processors))] for _ in range(2)
        ]
        means, anothers = zip(
            *(_judged(study, chance, alone=design == ALONE) for study in studies), strict=True
        )
        new = truth + deviation()
        signs = [_sign(one) for one in means]
        held += (
            _holds(means[0], truth), _holds(anothers[0], new), signs[0] * signs[1] < 0, signs[0] != 0,
        )  # fmt: skip
    return Found(*(held / simulations).tolist())


def _deviations(kind: str, chance: Chance) -> Callable[[], float]:
    """Return a function that draws processors of one comparison."""
    drawn = PRIOR.scale * math.sqrt(PRIOR.freedom / chance.chisquare(PRIOR.freedom))
    return lambda: KINDS.get(kind, drawn) * float(chance.normal())


def _judged(study: list[list[float]], chance: Chance, *, alone: bool) -> tuple[Fit, Fit]:
    """Return the estimates of the mean and of another processor, from the true log ratios of runs by processor."""
    fits = [[_measured(ratio, chance) for ratio in held] for held in study]
    if alone:
        return fits[0][0], fits[0][0]
    made = estimate([[one.with_noise(equal([])) for one in held] for held in fits], PRIOR)
    return made.mean, made.another


def _measured(ratio: float, chance: Chance) -> Fit:
    centre = ratio + math.hypot(ERROR, NOISE) * chance.normal()
    error = ERROR * math.sqrt(chance.chisquare(BLOCKS - 1) / (BLOCKS - 1))
    return Fit(float(centre), error, BLOCKS - 1, BLOCKS, error * math.sqrt(BLOCKS))


def _holds(one: Fit, value: float) -> bool:
    low, high = one.interval()
    return low <= value <= high


def _sign(one: Fit) -> int:
    low, high = one.interval()
    return int(low > 0) - int(high < 0)


if __name__ == "__main__":
    main()
