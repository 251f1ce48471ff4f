"""Simulate what the statistics can show: coverage, the chance of each answer, and the trials that an answer takes.

    cd harness && PYTHONPATH=. python benchmarks/power.py

Writes the tables of docs/methods.md, from 6,000 simulated comparisons per number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchbook.analyse.model import fit
from benchbook.analyse.noise import Itself, between
from benchbook.analyse.ratio import of_logs
from benchbook.declare.expectation import Expectation
from benchmarks.fits import VERDICTS, shares
from tests.analyse.simulated import GROUP, KINDS, SPREAD, fitted

SIMULATIONS = 6000
TRIALS = (3, 5, 10, 20, 40)
SPREADS = (0.03, 0.1, 0.3)
TRUTHS = (0.5, 0.8, 1.0, 1.25, 1.5, 1.9, 2.0, 2.1, 2.5, 3.0, 4.0)
PUBLISHED = Expectation("ratio", 2.0, 0.1)
"""The claim of the tables: 2 within 10 %."""
METHODS = Path(__file__).resolve().parents[2] / "docs" / "methods.md"
ANSWERS = {
    "contradicted": "no difference or reversed",
    "reproduced": "holds, as published",
    "different size": "size not as published",
    "direction only": "holds, size open",
    "inconclusive": "open",
}
"""Verdict on a published ratio → its words in the tables."""
END = "<!-- end of table -->"
ENOUGH = 0.8
"""Chance of the right verdict that counts as enough trials."""
MOST = 200
"""Trials after which the search for enough ends."""


def main() -> None:
    coverage = [row for kind in KINDS for row in coverage_rows(kind)]
    verdicts = [row for blocks in (5, 10, 20) for row in verdict_rows(blocks)]
    trials = [row for truth in TRUTHS for row in trials_rows(truth)]
    errors = [row for kind in KINDS for row in error_rows(kind)]
    percents = [f"{100 * spread:g} %" for spread in SPREADS]
    together = [f"{percent}, of {GROUP}" for percent in percents]
    write(METHODS, "coverage", ["noise", "trials", *percents, *together], coverage)
    write(METHODS, "equal", ["true noise", "no A/A run", "always widened", "widened if seen"], equal_rows())
    write(METHODS, "errors", ["noise", "trials", *(ANSWERS[word] for word in VERDICTS[:-1])], errors)
    write(METHODS, "verdicts", ["trials", "true ratio", *(ANSWERS[word] for word in VERDICTS)], verdicts)
    write(METHODS, "trials", ["true ratio", "right answer", *percents], trials)


def begin(name: str, by: str = "power") -> str:
    """Return the line before a table."""
    return f"<!-- {name}: written by harness/benchmarks/{by}.py -->\n"


def write(page: Path, name: str, head: list[str], rows: Iterable[str], by: str = "power") -> None:
    """Replace a table of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(begin(name, by))
    after = rest.partition(END)[2]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *rows, ""]
    page.write_text(before + begin(name, by) + "\n".join(lines) + END + after, encoding="utf-8")


def coverage(kind: str, simulations: int, blocks: int, spread: float, *, among: bool) -> float:
    """Return the share of 95 % intervals that hold the truth."""
    low, high = fitted(kind, simulations, blocks, spread, among=among).interval()
    return float(((low <= 0) & (high >= 0)).mean())


def coverage_rows(kind: str) -> list[str]:
    return [
        row(
            [kind, str(blocks)],
            [
                coverage(kind, SIMULATIONS, blocks, spread, among=among)
                for among in (False, True)
                for spread in SPREADS
            ],
        )
        for blocks in TRIALS
    ]


def equal_rows() -> list[str]:
    """Return how often a ratio's interval holds the truth, and its width, by the true noise between equal setups.

    The noise is in standard errors of the ratio, which has 10 blocks. The A/A run compares 6 setups in 5 blocks. Widths are
    relative to those without an A/A run.
    """
    return [
        f"| {noise:g} | "
        + " | ".join(f"{100 * held:.1f} %, {wide:.2f}" for held, wide in equal(noise))
        + " |"
        for noise in (0, 0.5, 1, 2)
    ]


def equal(noise: float, simulations: int = 4000) -> list[tuple[float, float]]:
    """Return coverage and relative width: without an A/A run, with the noise it estimates, and with its test."""
    chance = np.random.default_rng(17)
    apart = noise * SPREAD / math.sqrt(10)
    held, wide = np.zeros(3), np.zeros(3)
    for _ in range(simulations):
        of, *itself = (
            (chance.normal(0, SPREAD, count) + chance.normal(0, apart)).tolist() for count in (10, *[5] * 6)
        )
        alone = fit(of)
        assert alone is not None
        found = [Itself("aa", "", "", "load", "rate", of_logs(one)) for one in itself]
        for place, known in enumerate((None, between(found, 1.0), between(found))):
            low, high = alone.with_noise(known).interval()
            held[place] += low <= 0 <= high
            wide[place] += high - low
    return [(float(one) / simulations, float(width / wide[0])) for one, width in zip(held, wide, strict=True)]


def verdict_rows(blocks: int) -> list[str]:
    """Return the chance of each verdict on "2 within 10 %", by truth, at a spread of 10 %."""
    made = fitted("clean", SIMULATIONS, blocks, SPREAD)
    return [
        row([str(blocks), f"{truth:g}"], list(shares(made.of(truth), PUBLISHED).values())) for truth in TRUTHS
    ]


def trials_rows(truth: float) -> list[str]:
    """Return the trials that the right verdict on "2 within 10 %" takes in 80 % of runs, by spread."""
    word = right(PUBLISHED, truth)
    return [
        f"| {truth:g} | {ANSWERS[word]} | "
        + " | ".join(_enough(truth, word, spread) for spread in SPREADS)
        + " |"
    ]


def _enough(truth: float, word: str, spread: float) -> str:
    for blocks in (*range(3, 20), *range(20, 50, 5), *range(50, MOST + 1, 10)):
        if shares(fitted("clean", 2000, blocks, spread).of(truth), PUBLISHED)[word] >= ENOUGH:
            return str(blocks)
    return f"> {MOST}"


def error_rows(kind: str) -> list[str]:
    """Return the largest chance of each verdict where the truth is another one, over all truths and spreads."""
    edges = [end * (1 + side * 1e-9) for end, side in zip(PUBLISHED.band, (-1, 1), strict=True)]
    found = []
    for blocks in TRIALS:
        most = dict.fromkeys(VERDICTS[:-1], 0.0)
        for spread in SPREADS:
            made = fitted(kind, SIMULATIONS, blocks, spread)
            for truth in (*TRUTHS, *edges):
                held = shares(made.of(truth), PUBLISHED)
                for word in wrong(PUBLISHED, truth):
                    most[word] = max(most[word], held[word])
        found.append(row([kind, str(blocks)], list(most.values())))
    return found


def wrong(expected: Expectation, truth: float) -> set[str]:
    """Return the verdicts that are wrong of a truth."""
    low, high = expected.band
    meets = low <= truth <= high
    found = {"different size"} if meets else {"reproduced"}
    if expected.sign == 0:
        return found | {"contradicted"} if meets else found
    claimed_side = (truth - 1) * expected.sign > 0
    close = 1 / expected.no_difference <= truth <= expected.no_difference
    if claimed_side and not close:
        found.add("contradicted")
    return found if claimed_side else found | {"direction only"}


def right(expected: Expectation, truth: float) -> str:
    """Return the verdict that enough trials reach."""
    low, high = expected.band
    if expected.sign and (truth - 1) * expected.sign < 0:
        return "contradicted"
    if low <= truth <= high and not (truth == 1 and 1 in expected.band):
        return "reproduced"
    if expected.sign == 0:
        return "contradicted"
    close = math.log(expected.no_difference)
    return "contradicted" if abs(math.log(truth)) < close else "different size"


def row(names: list[str], numbers: list[float]) -> str:
    """Return a row of a table, its numbers in per cent."""
    return f"| {' | '.join([*names, *(f'{100 * number:.1f} %' for number in numbers)])} |"


if __name__ == "__main__":
    main()
