"""Compare two cells of a run: the one ratio that claims, pages and ``compare`` show."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable

from benchbook.analyse import noise
from benchbook.analyse.model import Noise, Prior, prior
from benchbook.analyse.ratio import Ratio, log_ratios, of_logs, ratio
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell, Pair, Validity


def paired(
    run: Run, above: Cell, below: Cell, pair: Pair, validity: Validity = "trial", over: Pair | None = None
) -> Ratio:
    """Return the ratio of two cells of a run in one metric, with the noise of the machine where it is known.

    ``over`` is the metric of ``below``, where it is another one.
    """
    sides = ((above, pair), (below, over or pair))
    of, base = (run.values(cell, one, validity) for cell, one in sides)
    return ratio(
        of.by_block,
        base.by_block,
        spread(run, pair, validity),
        noise.of(run, pair, above.system, below.system),
        rates="higher" in (of.direction, base.direction),
    ).at(run.level)


def pooled(run: Run, logs: list[dict[int, float]], noises: Iterable[Noise | None]) -> Ratio:
    """Return the typical ratio of several comparisons, by the blocks that all of them have.

    Its noise between equal setups is the largest of theirs.
    """
    blocks = sorted(set.intersection(*(set(held) for held in logs)))
    means = [sum(held[block] for held in logs) / len(logs) for block in blocks]
    largest = max(filter(None, noises), key=lambda one: one.variance, default=None)
    return of_logs(means, noise=largest).at(run.level)


@functools.cache
def spread(run: Run, pair: Pair, validity: Validity = "trial") -> Prior | None:
    """Return how much log ratios of a metric vary in a run, from each cell over the one before it.

    This chain has every cell and does not depend on what is compared, so two cells have one interval on every page.
    """
    return prior(chain(run, pair, validity))


def chain(run: Run, pair: Pair, validity: Validity = "trial") -> list[list[float]]:
    """Return the log ratios of each cell over the one before it."""
    held = [run.values(cell, pair, validity).by_block for cell in run.cells]
    steps = itertools.pairwise(one for one in held if one)
    return [list(log_ratios(after, before).values()) for before, after in steps]
