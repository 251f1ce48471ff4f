"""One case of a claim: its ratio, the expected ratio, and reasons why it is not judged."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from benchbook.analyse import interval, judgement, limits, noise
from benchbook.analyse.caches import not_cold
from benchbook.analyse.claim_cells import Sides
from benchbook.analyse.judgement import NONE, Answer, Evidence, Word, evidence, reason
from benchbook.analyse.model import Fit, Noise
from benchbook.analyse.paired import paired
from benchbook.analyse.ratio import Ratio, log_ratios
from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.declare.claim import Claim
from benchbook.declare.expectation import Expectation, expectation
from benchbook.declare.published import PublishedRatio

OF_FAILURES = ("rows_found", "rows_refused", "acknowledged_fraction")
"""Metrics that count refusals: failed operations are what they measure."""


@dataclass(frozen=True)
class JudgedCell:
    """The evidence of one case for a claim."""

    sides: Sides
    expected: Expectation
    published: float | None
    """Published ratio of this case."""
    published_of: float | None
    published_over: float | None
    unit: str | None
    """Unit of the two published values, as published."""
    ratio: Ratio
    logs: dict[int, float]
    """Block → log ratio."""
    outliers: int
    """Blocks marked as outliers; they are kept."""
    noise: Noise | None
    """Noise between equal setups, which the ratio's interval includes; None where it is unknown."""
    failed: int
    """Operations that failed on any side."""
    evidence: Evidence
    """The p-values; empty evidence if ``unfit`` gives a reason."""
    verdict: Word
    because: Reason
    """Why it has its verdict."""
    unfit: Reason | None = None
    """Why its ratio is not judged: lost trials, failed operations, a short phase, caches that were not cold."""
    steps: tuple[Fit, ...] = ()
    """The steps of a monotonic trend."""
    reversed_step: Reason | None = None
    """The step of a trend that goes against it."""

    @property
    def answer(self) -> Answer:
        """Whether the claim holds in this case, and how large its difference is."""
        return judgement.answer(self.verdict, [(self.evidence, self.expected)])

    @property
    def measured(self) -> float | None:
        """The measured ratio."""
        return self.ratio.value

    @property
    def low(self) -> float | None:
        """Ends of its interval."""
        return self.ratio.low

    @property
    def high(self) -> float | None:
        """The upper end."""
        return self.ratio.high

    @property
    def trials(self) -> int:
        """Blocks with a value of both sides."""
        return self.ratio.trials


def judged(claim: Claim, run: Run, sides: Sides, published: PublishedRatio | None) -> JudgedCell | None:
    """Return what one case shows of a claim; None where no block has both sides."""
    claim = claim.at_case(sides.levels)
    pair = claim.pair
    first, last = sides.cells[0], sides.cells[-1]
    ratio = paired(run, last, first, pair, claim.validity, claim.below)
    if ratio.value is None:
        return None
    series = [run.values(cell, one, claim.validity).by_block for cell, one in sides.pairs(claim)]
    logs = log_ratios(series[-1], series[0])
    if published is not None and claim.along is not None:
        published = published.between(first.levels[claim.along], last.levels[claim.along])
    expected = expectation(claim, published)
    along = itertools.pairwise(sides.cells) if claim.trend else ()
    steps = [paired(run, after, before, pair, claim.validity) for before, after in along]
    fits = [step.fit for step in steps] if claim.monotonic else []
    shown = evidence(ratio.fit, expected, fits).at(run.level)
    failed = (
        0
        if claim.metric in OF_FAILURES
        else sum(run.failed(cell, claim.phase, claim.validity) for cell in dict.fromkeys(sides.cells))
    )
    unfit = _unfit(claim, run, sides, failed)
    alone = judgement.word(shown)
    return JudgedCell(
        sides, expected, published.ratio if published else None,
        published.of if published else None, published.over if published else None,
        published.unit if published else None, ratio, logs, sum(interval.mad(list(logs.values()))),
        noise.of(run, pair, last.system, first.system), failed, NONE if unfit else shown,
        "inconclusive" if unfit else alone, unfit or reason(alone, expected, ratio), unfit,
        tuple(filter(None, fits)), _reversed(claim, run, sides, steps) if claim.trend else None,
    )  # fmt: skip


def _unfit(claim: Claim, run: Run, sides: Sides, failed: int) -> Reason | None:
    """Return why a case is not judged; None if it is."""
    for cell, pair in sides.pairs(claim):
        if lost := run.lost(cell, pair, claim.validity):
            return lost.reason(cell)
        # A system that did nothing in one trial is no slower one: its typical rate would leave that trial out.
        values = run.values(cell, pair, claim.validity).by_block.values()
        idle = sum(value == 0 for value in values)
        if pair[1].endswith("per_second") and 0 < idle < len(values):
            return because("idle", idle=idle, of=len(values), setup=cell.label)
        if warmer := not_cold(run, cell, pair[0]):
            return warmer
    if failed:
        return because("operations-failed", number=failed)
    return limits.short_phase(run, sides.cells, claim.pair, claim.validity)


def _reversed(claim: Claim, run: Run, sides: Sides, steps: Sequence[Ratio]) -> Reason | None:
    """Return the first step that goes against the trend (Bonferroni over its steps)."""
    assert claim.along is not None
    for ends, step in zip(itertools.pairwise(sides.cells), steps, strict=True):
        if step.fit is None:
            continue
        against = step.fit.below(0.0) if claim.test == "rises" else step.fit.above(0.0)
        if 2 * len(steps) * against <= run.level:
            before, after = (cell.levels[claim.along] for cell in ends)
            moved = "falls" if claim.test == "rises" else "rises"
            return because("step", moved=moved, factor=claim.along, first=before, last=after)
    return None
