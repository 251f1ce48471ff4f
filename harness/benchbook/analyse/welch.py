"""The ratio of two groups of trials that share no blocks: Welch's t on logarithms, for two runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchbook.analyse import interval
from benchbook.analyse.ratio import Ratio

METHOD = "Welch's t on logs, unpaired"


@dataclass(frozen=True)
class Unpaired:
    """B over A of two groups, and the size of their difference."""

    ratio: Ratio
    """``trials`` is the number of the smaller group."""
    effect: float | None
    """Hedges' g of the logarithms: the difference in standard deviations, B minus A. None without an interval."""
    above: float
    """p-value that the ratio lies above the bound that was asked for; 1 is not at all."""
    below: float


def unpaired(
    a: Sequence[float], b: Sequence[float], floor: float = 1.0, confidence: float = 0.95
) -> Unpaired:
    """Return B over A with its interval; ``floor``: the factor beyond which ``above`` and ``below`` are tested.

    >>> round(unpaired([1.0, 1.1, 0.9], [2.0, 2.2, 1.8]).ratio.value, 6)
    2.0
    """
    import numpy as np
    from scipy.special import stdtr, stdtrit

    fewest = min(len(a), len(b))
    wrong = interval.refusal([*a, *b]) if a and b else "one side has no trials"
    if wrong is not None and (not fewest or "least" not in wrong):
        return Unpaired(Ratio(None, None, None, fewest, "none", confidence, wrong), None, 1.0, 1.0)
    logs_a, logs_b = np.log(np.asarray(a, dtype=float)), np.log(np.asarray(b, dtype=float))
    centre = float(logs_b.mean() - logs_a.mean())
    value = math.exp(centre)
    few = interval.refusal([1.0] * fewest)
    if few is not None:
        return Unpaired(Ratio(value, None, None, fewest, "none", confidence, few), None, 1.0, 1.0)
    shares = [float(logs.var(ddof=1)) / len(logs) for logs in (logs_a, logs_b)]
    spread = math.sqrt(sum(shares))
    edge = math.log(max(floor, 1.0))
    if spread < 1e-12:
        return Unpaired(
            Ratio(value, value, value, fewest, METHOD, confidence),
            None,
            float(centre <= edge),
            float(centre >= -edge),
        )
    # Welch and Satterthwaite's degrees of freedom.
    freedom = sum(shares) ** 2 / sum(
        share**2 / (len(logs) - 1) for share, logs in zip(shares, (logs_a, logs_b), strict=True)
    )
    half = float(stdtrit(freedom, 0.5 + confidence / 2)) * spread
    return Unpaired(
        Ratio(value, math.exp(centre - half), math.exp(centre + half), fewest, METHOD, confidence),
        _hedges(logs_a, logs_b),
        min(1.0, 2 * float(stdtr(freedom, -(centre - edge) / spread))),
        min(1.0, 2 * float(stdtr(freedom, (centre + edge) / spread))),
    )


def _hedges(a: object, b: object) -> float:
    """Return the difference of two means in pooled standard deviations, freed of the bias of few trials."""
    import numpy as np

    one, two = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    freedom = len(one) + len(two) - 2
    pooled = math.sqrt(
        ((len(one) - 1) * float(one.var(ddof=1)) + (len(two) - 1) * float(two.var(ddof=1))) / freedom
    )
    return float(two.mean() - one.mean()) / pooled * (1 - 3 / (4 * freedom - 1))
