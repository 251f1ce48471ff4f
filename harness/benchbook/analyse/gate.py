"""Decide by metric whether a head is slower than its base, block by block, with a known error over all looks.

The sample of a metric is the *loss* of each block: the logarithm of the factor by which the head is worse. The model is
that of all comparisons (``model.py``). A metric is

- *not slower* if the interval of its loss lies below the margin,
- *slower* if the interval lies above no loss, and the estimate above the margin: a loss is certain, and it is more
  likely too large than not,
- *open* otherwise.

The gate is slower if one metric is, and not slower if all are not. Its error is 5 % in each direction, over all looks
and metrics: of calling a head slower that loses nothing, and of passing one that loses the margin or more. One wrong
alarm of any metric is an error, so alarms share the 5 % (Bonferroni). A pass needs every metric, so it is wrong only if
the metric that loses passes: each is tested at the whole 5 % (intersection-union test, Berger 1982).

A metric keeps the answer of the look that decided it. The looks spend ``SPENT`` of the 5 %; the rest covers the model,
whose p-values are a little too small with few blocks (``benchmarks/gates.py`` shows the error of both together).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchbook.analyse.model import ALPHA, FEWEST, Fit, Noise, fit
from benchbook.analyse.power import ENOUGH
from benchbook.analyse.ratio import log_ratios
from benchbook.analyse.spending import Look, due, levels
from benchbook.plan.sequential import SPENT

__all__ = ["Answer", "Chances", "Look", "Series", "Word", "chances", "decide", "due", "losses", "overall"]

Word = Literal["not slower", "slower", "open"]
MOST = 100_000
"""Blocks beyond which none are estimated."""


@dataclass(frozen=True)
class Series:
    """One metric of base and head, as the blocks so far measured it."""

    losses: Mapping[int, float]
    """Block, from 0 → logarithm of the factor by which the head is worse."""
    noise: Noise | None = None
    """The noise between equal setups; None where it is unknown."""


@dataclass(frozen=True)
class Answer:
    """What the looks say of one metric. Losses are shares: 0.02 if the head takes 2 % longer, or does 2 % less."""

    word: Word
    blocks: int
    """Blocks that the deciding look judged; of an open metric, the last look."""
    trials: int
    """Blocks with a value of both."""
    loss: float | None = None
    """The estimate; None for fewer than three blocks."""
    low: float | None = None
    """Ends of its interval: each is wrong in at most 5 % of gates, over all looks."""
    high: float | None = None
    fit: Fit | None = None
    needed: int | None = None
    """Blocks that would decide an open metric with a chance of 80 %, if the estimate is right; None if none would."""


def losses(base: Mapping[int, float], head: Mapping[int, float], direction: str) -> dict[int, float]:
    """Return block → log loss, from block → value of each; ``direction`` says which values are better.

    >>> losses({0: 1.0, 1: 2.0}, {0: 1.0, 1: 4.0}, "lower")[1] == math.log(2)
    True
    >>> round(losses({0: 10.0}, {0: 5.0}, "higher")[0], 9) == round(math.log(2), 9)
    True
    """
    return log_ratios(base, head) if direction == "higher" else log_ratios(head, base)


def decide(metrics: Sequence[Series], looks: Sequence[Look], margin: float) -> list[Answer]:
    """Return the answer on each metric after these looks, each at the blocks that it judged.

    >>> slow = Series({block: 0.2 + 0.001 * (-1) ** block for block in range(8)})
    >>> [one.word for one in decide([slow], [Look(8, 1.0)], 0.03)]
    ['slower']
    """
    passing = levels(looks, SPENT * ALPHA)
    alarming = levels(looks, SPENT * ALPHA / max(len(metrics), 1))
    return [_decided(one, looks, passing, alarming, margin) for one in metrics]


def overall(answers: Iterable[Answer]) -> Word:
    """Return the answer of the gate.

    >>> overall([Answer("not slower", 3, 3), Answer("open", 3, 3)]), overall([])
    ('open', 'open')
    """
    words = {one.word for one in answers}
    if "slower" in words:
        return "slower"
    return "not slower" if words == {"not slower"} else "open"


def _decided(
    series: Series, looks: Sequence[Look], passing: Sequence[float], alarming: Sequence[float], margin: float
) -> Answer:
    found = Answer("open", looks[-1].block if looks else 0, 0)
    for look, level, alarm in zip(looks, passing, alarming, strict=True):
        found = _judged(series, look, level, alarm, margin)
        if found.word != "open":
            break
    return found


def _judged(series: Series, look: Look, passing: float, alarming: float, margin: float) -> Answer:
    sample = [loss for block, loss in sorted(series.losses.items()) if block < look.block]
    made = fit(sample)
    if made is None:
        return Answer("open", look.block, len(sample))
    made = made.with_noise(series.noise)
    low = made.interval(2 * alarming)[0] if alarming else -math.inf
    high = made.interval(2 * passing)[1] if passing else math.inf
    limit = math.log1p(margin)
    word: Word = "open"
    if high < limit:
        word = "not slower"
    elif low > 0 and made.centre > limit:
        word = "slower"
    needed = _needed(made, series.noise, limit, passing, alarming) if word == "open" else None
    return Answer(word, look.block, len(sample), _share(made.centre), _share(low), _share(high), made, needed)


def _needed(made: Fit, noise: Noise | None, limit: float, passing: float, alarming: float) -> int | None:
    """Return the blocks after which the answer that the estimate points to has a chance of ``ENOUGH``."""
    distance, level = (made.centre, alarming) if made.centre > limit else (limit - made.centre, passing)
    apart = distance / (_quantile(level or 1e-6) + _quantile(1 - ENOUGH))
    variance = apart**2 - (noise.variance if noise else 0.0)
    if variance <= 0:
        return None
    blocks = math.ceil(made.spread**2 / variance) + 1
    return max(blocks, made.trials + 1) if blocks <= MOST else None


@dataclass(frozen=True)
class Chances:
    """The chance of the right answer on one metric within a number of blocks."""

    passed: float
    """That a head that loses nothing is not slower."""
    found: float
    """That a head that loses twice the margin is slower."""


def chances(
    blocks: int, spread: float, margin: float, metrics: int = 1, noise: Noise | None = None
) -> Chances:
    """Return the chances within so many blocks, whose log losses have a standard deviation of ``spread``.

    >>> few, many = chances(5, 0.05, 0.03), chances(100, 0.05, 0.03)
    >>> few.passed < 0.3 < 0.99 < many.passed, few.found < many.found
    (True, True)
    """
    from scipy.special import nctdtr, ndtr, stdtrit

    if blocks < FEWEST:
        return Chances(0.0, 0.0)
    looks: list[Look] = []
    for block in range(1, blocks + 1):
        if block == blocks or due(block, looks):
            looks.append(Look(block, block / blocks))
    error = math.sqrt(spread**2 / blocks + (noise.variance if noise else 0.0))
    limit, loss = math.log1p(margin), math.log1p(2 * margin)
    if not error:
        return Chances(1.0, 1.0)

    def beyond(distance: float, among: int) -> float:
        """Return the chance that the last look sees a distance."""
        freedom, level = blocks - 1, levels(looks, SPENT * ALPHA / among)[-1]
        return 1 - float(nctdtr(freedom, distance / error, -float(stdtrit(freedom, level))))

    above = float(ndtr((loss - limit) / error))
    return Chances(beyond(limit, 1), min(beyond(loss, metrics), above))


def _share(loss: float) -> float:
    return math.expm1(loss) if loss < math.inf else math.inf


def _quantile(level: float) -> float:
    """Return the distance that a standard normal value exceeds with probability ``level``."""
    from scipy.special import ndtri

    return -float(ndtri(level))
