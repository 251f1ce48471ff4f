"""Where the variance of a ratio comes from, in a run that varied what should not matter.

The ratio is that of two systems in trials with the same levels of all other factors, in one block. Its logarithm is the
sum of an effect of each factor, of the block and of the order of the two trials, and of a rest: the scatter between
trials. The size of an effect is the standard deviation of its levels' effects. Its interval is exact if the rest is
normal: the confidence limits of the noncentrality of its F test (Steiger 2004, "Beyond the F test").
"""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchbook.analyse.model import log_ratio
from benchbook.analyse.run import Run
from benchbook.analyse.values import Pair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK, ORDER, REST = "block", "order", "rest"
"""Sources beside the factors: the time, the order of the two trials, and the scatter between trials."""
ENDS = (0.975, 0.025)
"""Shares of a distribution beyond the ends of a 95 % interval, the lower end first."""
FEWEST_FREEDOM = 10
"""Degrees of freedom of the rest below which nothing is said."""


@dataclass(frozen=True)
class Source:
    """How much one source moves a log ratio."""

    name: str
    """A factor, ``block``, ``order`` or ``rest``."""
    levels: int
    """The number of its levels; of the rest, of ratios."""
    deviation: float
    """Standard deviation of its effects; 0 if they are no larger than the rest explains."""
    low: float
    """Ends of the 95 % interval of the deviation."""
    high: float
    chance: float | None
    """p-value of no effect; None for the rest."""


def sources(run: Run, pair: Pair) -> list[Source]:
    """Return the sources of variance of the ratio of a run's two systems in a metric; none if it shows too little."""
    return list(_sources(run, pair))


@functools.cache
def _sources(run: Run, pair: Pair) -> tuple[Source, ...]:
    found = observations(run, pair)
    return () if found is None else tuple(decomposed(*found))


def systems(run: Run) -> tuple[str, str] | None:
    """Return the two systems of a run, the first over the second; None unless it has two."""
    held = list(dict.fromkeys(cell.system for cell in run.cells if cell.ok))
    asked = [str(one) for one in (run.facts("planned").get("factors") or {}).get("system") or []]
    held.sort(key=lambda name: asked.index(name) if name in asked else len(asked))
    return (held[0], held[1]) if len(held) == 2 else None


def observations(run: Run, pair: Pair) -> tuple[list[float], dict[str, list[Hashable]]] | None:
    """Return each log ratio, and source → its level for each of them; None unless the run has two systems."""
    both = systems(run)
    if both is None:
        return None
    by_rest: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
    for cell in run.cells:
        rest = tuple(one for one in cell.varying if one[0] != "system")
        by_rest.setdefault(rest, {})[cell.system] = cell.name
    positions = {
        (str(cell), int(block)): int(place)
        for cell, block, place in run.ok.select("cell", "block", "position").iter_rows()
    }
    ratios: list[float] = []
    levels: dict[str, list[Hashable]] = {}
    for rest, cells in by_rest.items():
        if not all(system in cells for system in both):
            continue
        above, below = (run.values(cells[system], pair).by_block for system in both)
        for block in sorted(above.keys() & below.keys()):
            ratios.append(log_ratio(above[block], below[block]))
            first = positions[cells[both[0]], block] < positions[cells[both[1]], block]
            of: dict[str, Hashable] = {**dict(rest), BLOCK: block, ORDER: first}
            for name, level in of.items():
                levels.setdefault(name, []).append(level)
    return ratios, levels


def decomposed(ratios: Sequence[float], levels: Mapping[str, Sequence[Hashable]]) -> list[Source]:
    """Return the sources of variance of log ratios, the rest last; none if too few are left for the rest.

    An effect is what a source explains beyond all others, so lost trials do not mix two sources.
    """
    import numpy as np
    from scipy.stats import chi2

    values = np.asarray(ratios, dtype=float)
    count = len(values)
    columns = {name: _indicators(held) for name, held in levels.items() if len(set(held)) > 1}
    whole = _unexplained(values, list(columns.values()))
    freedom = count - 1 - sum(one.shape[1] for one in columns.values())
    if freedom < FEWEST_FREEDOM:
        return []
    rest = whole / freedom
    found = []
    for name, own in columns.items():
        others = [held for other, held in columns.items() if other != name]
        used = own.shape[1]
        explained = max(0.0, _unexplained(values, others) - whole)
        found.append(_source(name, explained, used, rest, freedom, count))
    ends = [math.sqrt(whole / float(chi2.ppf(share, freedom))) for share in ENDS]
    return [*found, Source(REST, count, math.sqrt(rest), ends[0], ends[1], None)]


def _source(name: str, explained: float, used: int, rest: float, freedom: int, count: int) -> Source:
    """Return a source from the sum of squares that it explains, with ``used`` degrees of freedom."""
    from scipy.stats import f

    if not rest:
        size = math.sqrt(explained / count)
        return Source(name, used + 1, size, size, size, 0.0 if explained else 1.0)
    ratio = explained / used / rest
    # The mean of F is freedom / (freedom - 2) times 1 + noncentrality / used.
    central = max(0.0, used * (ratio * (freedom - 2) / freedom - 1))
    low, high = (_noncentrality(ratio, used, freedom, share) for share in ENDS)

    def deviation(noncentrality: float) -> float:
        return math.sqrt(noncentrality * rest / count)

    return Source(
        name, used + 1, deviation(central), deviation(low), deviation(high), float(f.sf(ratio, used, freedom))
    )  # fmt: skip


def _noncentrality(ratio: float, used: int, freedom: int, share: float) -> float:
    """Return the noncentrality at which F is at most ``ratio`` with probability ``share``; 0 if there is none."""
    from scipy.optimize import brentq
    from scipy.special import ncfdtr

    def apart(noncentrality: float) -> float:
        return float(ncfdtr(used, freedom, noncentrality, ratio)) - share

    if apart(0.0) <= 0:
        return 0.0
    most = 10.0 + 4 * used * ratio
    while apart(most) > 0:
        most *= 2
    return float(brentq(apart, 0.0, most))


def _indicators(held: Sequence[Hashable]) -> NDArray[np.float64]:
    """Return a column for each level but the first, 1 where a ratio has it."""
    import numpy as np

    found = list(dict.fromkeys(held))
    return np.asarray([[float(level == one) for one in found[1:]] for level in held])


def _unexplained(values: NDArray[np.float64], columns: Sequence[NDArray[np.float64]]) -> float:
    """Return the sum of squares that a linear model with a constant leaves."""
    import numpy as np

    design = np.hstack([np.ones((len(values), 1)), *columns])
    fitted = design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return float(((values - fitted) ** 2).sum())
