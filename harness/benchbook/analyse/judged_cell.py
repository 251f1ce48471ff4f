"""One cell of a claim: its two sides (or its row of levels), their ratio, and what it shows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchbook.analyse import interval, judgement, outliers
from benchbook.analyse.expectation import Evidence, Expectation, Kind, evidence
from benchbook.analyse.judgement import Word
from benchbook.analyse.noise import Floors
from benchbook.analyse.observed import Observed
from benchbook.analyse.ratio import Ratio
from benchbook.analyse.ratio import ratio as of_ratio
from benchbook.analyse.reason import reason
from benchbook.analyse.sides import Sides
from benchbook.declare.claim import Claim
from benchbook.declare.published_ratio import PublishedRatio


@dataclass(frozen=True)
class JudgedCell:
    """What one cell shows of a claim."""

    sides: Sides
    expected: Expectation
    published: float | None
    """Published ratio of this cell."""
    published_of: float | None
    published_over: float | None
    unit: str | None
    """Unit of the two published values, as published."""
    measured: float | None
    low: float | None
    high: float | None
    trials: int
    """Blocks that have both sides."""
    ratio: Ratio
    logs: tuple[tuple[int, float], ...]
    """(block, log ratio)."""
    outliers: int
    """Blocks marked as outliers; they are kept."""
    noise: float | None
    """Noise floor as a factor; None where it is unknown."""
    failed: int
    """Operations that failed on any side."""
    evidence: Evidence
    reversed_step: str | None = None
    """The step of a trend that surely goes against it."""
    verdict: Word = "inconclusive"
    reason: str = ""

    def sentence(self, word: Word, alone: bool) -> str:
        """Say why the cell is called so; ``alone``: no other cell was judged with it."""
        if not alone and word != judgement.word(self.evidence):
            return f"{judgement.word(self.evidence)} by itself, and not surely so among the cells judged together"
        return reason(word, self.expected, self.ratio, self.noise)


def judged(
    claim: Claim, run: Observed, sides: Sides, published: PublishedRatio | None, floors: Floors
) -> JudgedCell | None:
    """Return what the sides show of a claim, before many cells are judged together; None without a ratio."""
    pair = (claim.phase, claim.metric)
    series = [run.values(cell, pair).by_block for cell in sides.cells]
    ratio = of_ratio(series[-1], series[0])
    if ratio.value is None:
        return None
    logs = _logs(series[-1], series[0])
    if published is not None and claim.along is not None:
        first, last = (sides.cells[place].levels[claim.along] for place in (0, -1))
        published = published.between(first, last)
    expected = expectation(claim, published)
    floor = floors.factor(sides.cells, pair)
    found = evidence([log for _, log in logs], expected, floor or 1.0, _steps(claim, series))
    reversed_step = _reversed(claim, sides, series, floor) if claim.trend else None
    if (
        reversed_step
    ):  # it ends higher than it began and fell on the way: the size alone does not make it true
        found = Evidence(1.0, found.direction, found.contradicted)
    marks = outliers.mad([log for _, log in logs])
    return JudgedCell(
        sides, expected, published.ratio if published else None,
        published.of if published else None, published.over if published else None,
        published.unit if published else None, ratio.value, ratio.low, ratio.high, ratio.trials, ratio,
        tuple(logs), sum(marks), floor, sum(run.failed(cell, claim.phase) for cell in sides.cells), found,
        reversed_step,
    )  # fmt: skip


def expectation(claim: Claim, published: PublishedRatio | None) -> Expectation:
    """Return what a claim expects of a cell's ratio."""
    number = published.ratio if published else None
    if claim.test == "rises" or claim.test == "falls":  # noqa: PLR1714 - narrows the type
        up = claim.test == "rises"
        kind: Kind = "at-least" if up else "at-most"
        if claim.by_at_least is not None:
            return Expectation(kind, claim.by_at_least if up else 1 / claim.by_at_least, claim.margin)
        if number is not None and (number > 1) == up and number != 1:
            return Expectation("ratio", number, claim.margin)
        return Expectation(kind, 1.0, claim.margin)
    if claim.test == "equal":
        return Expectation("equal", 1.0, claim.margin)
    return Expectation(claim.test, 1.0 if number is None else number, claim.margin)


def pooled(cells: Sequence[JudgedCell]) -> Ratio:
    """Return the geometric mean of the ratios of cells, paired by the blocks that all of them have."""
    if len(cells) == 1:
        return cells[0].ratio
    by_block = [dict(cell.logs) for cell in cells]
    blocks = sorted(set.intersection(*(set(held) for held in by_block)))
    means = {block: math.exp(sum(held[block] for held in by_block) / len(by_block)) for block in blocks}
    return of_ratio(means, dict.fromkeys(blocks, 1.0))


def _logs(of: dict[int, float], over: dict[int, float]) -> list[tuple[int, float]]:
    return [(block, math.log(of[block] / over[block])) for block in sorted(of.keys() & over.keys())]


def _steps(claim: Claim, series: Sequence[dict[int, float]]) -> list[list[float]]:
    if not claim.monotonic:
        return []
    return [[log for _, log in _logs(after, before)] for before, after in itertools.pairwise(series)]


def _reversed(
    claim: Claim, sides: Sides, series: Sequence[dict[int, float]], floor: float | None
) -> str | None:
    """Return the first step that surely goes against the trend (Bonferroni over its steps), in words."""
    sign = 1 if claim.test == "rises" else -1
    edge = math.log(max(floor or 1.0, 1.0))
    steps = len(series) - 1
    for place in range(steps):
        logs = [sign * log for _, log in _logs(series[place + 1], series[place])]
        if len(logs) >= interval.FEWEST and steps * interval.below(logs, -edge) <= judgement.ALPHA:
            assert claim.along is not None
            before, after = (sides.cells[at].levels[claim.along] for at in (place, place + 1))
            moved = "falls" if sign > 0 else "rises"
            return f"{claim.metric} {moved} from {claim.along} {before} to {after}"
    return None
