"""The chance of each verdict on a claim, by number of trials, at an assumed true ratio and spread.

Each draw is an experiment: an estimate and its standard error for every case, judged as ``judgement`` judges a run.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from benchbook.analyse.judgement import DECIDED, Answer, Evidence, Word, answer, evidence, joint, ordered
from benchbook.analyse.model import ALPHA, FEWEST, Fit, Noise
from benchbook.declare.claim import Share
from benchbook.declare.expectation import Expectation

DRAWS = 300
ENOUGH = 0.8
"""The chance that a number of trials is chosen for."""
MOST = 1000
"""Trials beyond which none are looked for."""
STEP = 1.05
"""Relative precision of a number of trials."""
SETTLED: tuple[Word, ...] = ("reproduced", "different size", "contradicted")
"""Verdicts that more trials do not sharpen; "direction only" leaves the size open."""
_SEED = 1908


@dataclass(frozen=True)
class Case:
    """One comparison of a claim: what is expected of it, and what is assumed or known about it."""

    expected: Expectation
    truth: float
    """Logarithm of the true ratio, or of the measured one."""
    spread: float
    """Standard deviation of the log ratio of one block."""
    noise: Noise | None = None
    steps: tuple[float, ...] = ()
    """Logarithms of the steps of a monotonic trend."""
    trials: int = 0
    """Blocks that were measured already; ``truth`` and ``spread`` are then their estimates."""
    shared: float = 0.0
    """Degrees of freedom that other comparisons of the metric add."""


def case(expected: Expectation, fit: Fit, noise: Noise | None, steps: Sequence[Fit] = ()) -> Case:
    """Return what a measured comparison shows, to see what more trials would show."""
    own = fit.freedom - (fit.trials - 1)
    shared = 0.0 if noise is not None and noise.variance else max(0.0, own)
    return Case(
        expected, fit.centre, fit.spread, noise, tuple(one.centre for one in steps), fit.trials, shared
    )


@dataclass(frozen=True)
class Question:
    """All comparisons of a claim, and in how many of them it must hold."""

    cases: tuple[Case, ...]
    share: Share = "all"
    missing: int = 0
    """Cases without a result, which show nothing."""

    def chances(self, trials: int, level: float = ALPHA, *, further: bool = False) -> dict[Word, float]:
        """Return the chance of each verdict of a run with this number of trials.

        ``further``: the trials that a case has already are among them, and its true ratio is known no better than
        they show it.
        """
        drawn = self._drawn(trials, level, further=further)
        counts = Counter(word for word, _ in drawn)
        return {word: counts[word] / len(drawn) for word in (*DECIDED, "inconclusive")}

    def answers(self, trials: int, level: float = ALPHA) -> dict[Answer, float]:
        """Return the chance of each answer that has one."""
        drawn = self._drawn(trials, level, further=False)
        counts = Counter(said for _, said in drawn)
        return {said: counts[said] / len(drawn) for said in ordered(counts)}

    def _drawn(self, trials: int, level: float, *, further: bool) -> list[tuple[Word, Answer]]:
        """Return verdict and answer of simulated runs."""
        if trials < FEWEST:
            return [("inconclusive", Answer("open"))]
        chance = random.Random(_SEED)
        # A claim about many cases takes long, and fewer draws tell its chance well enough.
        draws = max(DRAWS // max(len(self.cases), 1), DRAWS // 5)
        held = [_draws(one, trials, level, draws, chance, further=further) for one in self.cases]
        expected = [one.expected for one in self.cases]
        found = []
        for shown in zip(*held, strict=True):
            said = joint(shown, self.share, self.missing)
            seen = list(zip(shown, expected, strict=True))
            found.append((said, answer(said, seen, self.share, self.missing)))
        return found

    def chance(
        self,
        trials: int,
        words: Collection[Word] | None = None,
        level: float = ALPHA,
        *,
        further: bool = False,
    ) -> float:
        """Return the chance of one of several verdicts; by default of any answer that is not open."""
        if not self.cases:
            return 0.0
        drawn = self._drawn(trials, level, further=further)
        decided = sum(said.holds != "open" if words is None else word in words for word, said in drawn)
        return decided / len(drawn)

    def trials_for(self, words: Collection[Word] | None = None, level: float = ALPHA) -> int | None:
        """Return about the fewest trials that give one of these verdicts with a chance of ``ENOUGH``.

        None if ``MOST`` trials do not.
        """

        def enough(trials: int) -> bool:
            return self.chance(trials, words, level) >= ENOUGH

        if enough(FEWEST):
            return FEWEST
        below, above = FEWEST, MOST
        if not enough(above):
            return None
        while above > max(below + 1, below * STEP):
            middle = round(math.sqrt(below * above))
            middle = min(max(middle, below + 1), above - 1)
            below, above = (below, middle) if enough(middle) else (middle, above)
        return above


def _draws(
    one: Case, trials: int, level: float, draws: int, chance: random.Random, *, further: bool
) -> list[Evidence]:
    """Return the evidence of one case in simulated runs."""
    had = one.trials if further else 0
    trials = max(trials, had)
    # Degrees of freedom of the spread: those that are measured, and those of further blocks.
    known = had - 1 + one.shared if had else 0.0
    new = trials - had if had else trials - 1 + one.shared
    freedom = known + new
    noise = one.noise.variance if one.noise else 0.0
    found = []
    for _ in range(draws):
        spread = one.spread
        if had:  # the true spread and the true ratio are uncertain
            spread *= math.sqrt(known / _chi_square(known, chance))
            scatter = spread * math.sqrt((trials - had) / (trials * had))
        else:
            scatter = math.sqrt(spread**2 / (trials - 1) + noise)  # as the model's error
        variance = (one.spread**2 * known + spread**2 * _chi_square(new, chance)) / freedom
        fits = [
            Fit(
                centre + scatter * chance.gauss(0, 1), math.sqrt(variance / (trials - 1)), freedom, trials,
                math.sqrt(variance),
            ).with_noise(one.noise)
            for centre in (one.truth, *one.steps)
        ]  # fmt: skip
        found.append(evidence(fits[0], one.expected, fits[1:]).at(level))
    return found


def _chi_square(freedom: float, chance: random.Random) -> float:
    return 2 * chance.gammavariate(freedom / 2, 1.0) if freedom > 0 else 0.0
