"""Simulate gates: how often they are wrong, how often they find a loss, and the blocks that they take.

    cd harness && PYTHONPATH=. python benchmarks/gates.py

Writes the tables of docs/methods.md on ``bench gate``; takes minutes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchbook.analyse.gate import chances
from benchbook.analyse.model import ALPHA
from benchbook.analyse.power import ENOUGH
from benchbook.analyse.spending import Look, due, levels
from benchbook.plan.sequential import FIRST, SPENT
from benchmarks.fits import Array, fits
from benchmarks.power import METHODS, write
from tests.analyse.simulated import BURSTS, KINDS, log_ratios

SIMULATIONS = 3000
MARGIN = 0.03
SPREAD = 0.05
MAXIMA = (12, 40, 120)
METRICS = 5
POWER_SIMULATIONS = 1000
SPREADS = (0.01, 0.03, 0.1, 0.2)
LOSSES = (0.0, 0.01, 0.02, 0.03, 0.045, 0.06, 0.1)


def looks(blocks: int) -> list[Look]:
    """Return the looks of a gate whose budget ends after so many blocks."""
    found: list[Look] = []
    for block in range(1, blocks + 1):
        if block == blocks or due(block, found):
            found.append(Look(block, block / blocks))
    return found


def sample(
    kind: str,
    simulations: int,
    blocks: int,
    loss: float,
    spread: float,
    metrics: int = 1,
    *,
    head: bool = True,
) -> Array:
    """Return the log losses of gates x metrics x blocks; rare stalls are those of the head, or of the base."""
    seed = blocks + 1000 * round(100 * loss) + 10 * metrics
    logs = log_ratios(kind, seed, simulations * metrics, blocks, spread=spread)
    return math.log1p(loss) + (-logs if head else logs).reshape(simulations, metrics, blocks)


def ended(
    logs: Array, at: Sequence[Look], margin: float = MARGIN
) -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    """Return the answer of each gate, and the number of blocks after which it ended, as ``gate.decide`` gives them."""
    gates, metrics, blocks = logs.shape
    words = np.full((gates, metrics), "open", dtype="<U10")
    said, length = np.full(gates, "open", dtype="<U10"), np.full(gates, blocks)
    limit, going = math.log1p(margin), np.arange(gates)
    passing, alarming = levels(at, SPENT * ALPHA), levels(at, SPENT * ALPHA / metrics)
    for look, level, alarm in zip(at, passing, alarming, strict=True):
        made = fits(logs[going, :, : look.block])
        high = made.centre - stdtrit(made.freedom, level) * made.error
        low = made.centre + stdtrit(made.freedom, alarm) * made.error
        slower = (low > 0) & (made.centre > limit)
        now = np.where(high < limit, "not slower", np.where(slower, "slower", "open"))
        words[going] = np.where(words[going] == "open", now, words[going])
        held = words[going]
        over = np.where((held == "slower").any(1), "slower", "not slower")
        done = (held == "slower").any(1) | (held == "not slower").all(1)
        said[going[done]], length[going[done]] = over[done], look.block
        going = going[~done]
        if not going.size:
            break
    return said, length


def share(word: str, logs: Array) -> float:
    """Return the share of gates with an answer."""
    return float((ended(logs, looks(logs.shape[-1]))[0] == word).mean())


def enough(spread: float) -> int:
    """Return the blocks within which a gate of one metric has the right answer with 80 % chance, as planned."""

    def is_enough(blocks: int) -> bool:
        found = chances(blocks, spread, MARGIN)
        return min(found.passed, found.found) >= ENOUGH

    few, many = FIRST - 1, FIRST
    while not is_enough(many):
        few, many = many, 2 * many
    while many > few + 1:
        middle = (few + many) // 2
        few, many = (few, middle) if is_enough(middle) else (middle, many)
    return many


def percent(number: float) -> str:
    return f"{100 * number:.1f} %"


def error_row(kind: str, blocks: int) -> str:
    """Return how often gates are wrong: alarms without a loss, of one and several metrics, and passes at the margin."""
    one, many = (sample(kind, SIMULATIONS, blocks, 0.0, SPREAD, metrics) for metrics in (1, METRICS))
    margin = sample(kind, SIMULATIONS, blocks, MARGIN, SPREAD, head=False)
    wrong = (share("slower", one), share("slower", many), share("not slower", margin))
    return f"| {kind} | {blocks} | {' | '.join(map(percent, wrong))} |"


def power_row(spread: float, loss: float) -> str:
    """Return the answers of gates at a true loss, within the blocks that give 80 % chance."""
    blocks = enough(spread)
    words, length = ended(sample("clean", POWER_SIMULATIONS, blocks, loss, spread), looks(blocks))
    shares = [percent(float((words == word).mean())) for word in ("not slower", "slower", "open")]
    return (
        f"| {100 * spread:g} % | {blocks} | {100 * loss:g} % | {' | '.join(shares)} | {length.mean():.0f} |"
    )


def main() -> None:
    errors = [error_row(kind, blocks) for kind in (*KINDS, BURSTS) for blocks in MAXIMA]
    heads = ["noise", "blocks at most", "false alarm", f"of {METRICS} metrics", "false pass"]
    write(METHODS, "gates", heads, errors, by="gates")
    answers = [power_row(spread, loss) for spread in SPREADS for loss in LOSSES]
    heads = ["spread", "blocks at most", "true loss", "not slower", "slower", "open", "mean blocks"]
    write(METHODS, "answers", heads, answers, by="gates")


if __name__ == "__main__":
    main()
