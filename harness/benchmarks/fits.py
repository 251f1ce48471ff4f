"""The model of ``analyse.model`` on arrays: thousands of simulated comparisons in one pass.

A simulation needs a hundred thousand fits, which one at a time take minutes. ``tests/analyse/test_model.py`` compares
both on the same samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import polygamma, psi, stdtr, stdtrit

from benchbook.analyse.model import ALPHA, FEWEST_ROBUST, HUBER, OWN_SCALE
from benchbook.declare.expectation import Expectation

Array = NDArray[np.float64]
_NORMAL = 1.4826


@dataclass(frozen=True)
class Fits:
    """Location, standard error and degrees of freedom of each sample."""

    centre: Array
    error: Array
    freedom: Array

    def interval(self, alpha: float = 0.05) -> tuple[Array, Array]:
        half = stdtrit(self.freedom, 1 - alpha / 2) * self.error
        return self.centre - half, self.centre + half

    def of(self, truth: float) -> Fits:
        """Return the fits of the same samples where the true ratio is another one."""
        return replace(self, centre=self.centre + math.log(truth))

    def flat(self) -> Fits:
        return Fits(self.centre.ravel(), self.error.ravel(), self.freedom.ravel())

    def above(self, bound: float) -> Array:
        return np.asarray(stdtr(self.freedom, (bound - self.centre) / self.error))

    def below(self, bound: float) -> Array:
        return np.asarray(stdtr(self.freedom, (self.centre - bound) / self.error))


def fits(samples: Array) -> Fits:
    """Fit each sample alone; the last axis is trials."""
    centre, variance = _huber(samples, None)
    count = samples.shape[-1]
    trials = count if count < FEWEST_ROBUST else count - 1
    return Fits(centre, np.sqrt(variance / trials), np.full(centre.shape, count - 1.0))


def moderated(samples: Array) -> Fits:
    """Fit comparisons that are measured together; the last two axes are comparisons and trials."""
    count, group = samples.shape[-1], samples.shape[-2]
    own = count - 1.0
    scale = _NORMAL * np.median(_distances(samples).reshape(*samples.shape[:-2], -1), axis=-1)
    centre, variance = _huber(samples, scale[..., None])
    logs = np.log(variance) - psi(own / 2) + math.log(own / 2)
    mean = logs.mean(axis=-1)
    excess = logs.var(axis=-1, ddof=1) - float(polygamma(1, own / 2))
    pooled = excess <= 0
    freedom = 2 * _inverse_trigamma(np.where(pooled, 1.0, excess))
    common = np.exp(mean + psi(freedom / 2) - np.log(freedom / 2))
    mixed = (freedom * common)[..., None] + own * variance
    mixed = np.where(pooled[..., None], variance.mean(axis=-1)[..., None], mixed / (freedom[..., None] + own))
    total = np.minimum(np.where(pooled, np.inf, freedom) + own, group * own)
    return Fits(centre, np.sqrt(mixed / own), np.broadcast_to(total[..., None], centre.shape))


VERDICTS = ("contradicted", "reproduced", "different size", "direction only", "inconclusive")


def shares(found: Fits, expected: Expectation) -> dict[str, float]:
    """Return verdict → the share of comparisons that have it."""
    said = verdicts(found, expected)
    return {word: float((said == word).mean()) for word in VERDICTS}


def verdicts(found: Fits, expected: Expectation, level: float = ALPHA) -> NDArray[np.str_]:
    """Return the verdict on each comparison, as ``judgement.word`` gives it for tests at ``level``."""
    low, high = (math.log(end) if 0 < end < math.inf else None for end in expected.band)
    inside = [found.above(low)] if low is not None else []
    inside += [found.below(high)] if high is not None else []
    beyond = [found.below(low)] if low is not None else []
    beyond += [found.above(high)] if high is not None else []
    reproduced = np.maximum(*inside) if len(inside) == 2 else 2 * inside[0]
    outside = 2 * np.minimum.reduce(beyond)
    if expected.sign == 0:
        tests = [("reproduced", reproduced), ("contradicted", outside)]
    else:
        close = math.log(expected.no_difference)
        toward, against = (found.above(0.0), found.below(0.0))[:: expected.sign]
        same = np.maximum(found.above(-close), found.below(close))
        absent = found.below(close) if expected.sign > 0 else found.above(-close)
        tests = [
            ("contradicted", 2 * against), ("reproduced", reproduced), ("contradicted", same),
            ("different size", outside), ("contradicted", absent), ("direction only", 2 * toward),
        ]  # fmt: skip
    return np.select([p <= level for _, p in tests], [word for word, _ in tests], "inconclusive")


def _huber(samples: Array, common: Array | None) -> tuple[Array, Array]:
    count = samples.shape[-1]
    if common is None and count < FEWEST_ROBUST:
        return samples.mean(axis=-1), samples.var(axis=-1, ddof=1)
    scale = _NORMAL * np.median(_distances(samples), axis=-1)
    if common is not None:
        scale = np.sqrt((OWN_SCALE * common**2 + (count - 1) * scale**2) / (OWN_SCALE + count - 1))
    centre = np.median(samples, axis=-1)
    for _ in range(50):
        far = np.maximum(np.abs(samples - centre[..., None]), 1e-9)
        weights = np.minimum(1.0, HUBER * scale[..., None] / far)
        moved = (weights * samples).sum(axis=-1) / weights.sum(axis=-1)
        close = bool((np.abs(moved - centre) < 1e-6 * scale).all())
        centre = moved
        if close:
            break
    standard = (samples - centre[..., None]) / scale[..., None]
    inside = np.maximum((np.abs(standard) <= HUBER).mean(axis=-1), 0.5)
    cut = (np.clip(standard, -HUBER, HUBER) ** 2).sum(axis=-1)
    return centre, scale**2 * cut / (count - 1) / inside**2


def _distances(samples: Array) -> Array:
    middle = np.median(samples, axis=-1, keepdims=True)
    return np.sort(np.abs(samples - middle), axis=-1)[..., samples.shape[-1] % 2 :]


def _inverse_trigamma(values: Array) -> Array:
    found = 0.5 + 1 / values
    for _ in range(50):
        here = polygamma(1, found)
        step = here * (1 - here / values) / polygamma(2, found)
        found = found + step
        if float((-step / found).max()) < 1e-8:
            break
    return np.asarray(found)
