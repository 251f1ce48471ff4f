"""Simulate the statistics: coverage, false alarms and power by number of trials and kind of noise.

    cd harness && PYTHONPATH=. python benchmarks/power.py

Updates the table in docs/claims.md: 4,000 simulated experiments per row, noise of 4 % per trial, margin 10 %.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from benchbook.analyse.interval import student_t_rows
from tests.analyse.simulated import KINDS, log_ratios

SIMULATIONS = 4000
TRIALS = (3, 5, 10, 19)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "claims.md"
BEGIN, END = "<!-- table: written by harness/benchmarks/power.py -->\n", "<!-- end of table -->"
HEAD = "| noise | trials | coverage | false alarms | 1.05 seen | 2.0 seen | 2.0 reproduced | reproduced at the edge |"


def main() -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{after}", encoding="utf-8")


def table() -> str:
    rows = [row(kind, blocks) for kind in KINDS for blocks in TRIALS]
    return "\n".join([HEAD, "|---|---|---|---|---|---|---|---|", *rows, ""])


def row(kind: str, blocks: int) -> str:
    def ends(truth: float) -> tuple[np.ndarray, np.ndarray]:
        return student_t_rows(log_ratios(kind, blocks, SIMULATIONS, blocks, truth), 0.95)

    def within(truth: float, published: float) -> float:
        low, high = ends(truth)
        return float(((low >= math.log(published / 1.1)) & (high <= math.log(published * 1.1))).mean())

    low, high = ends(1.0)
    covered = float(((low <= 0) & (high >= 0)).mean())
    seen = [float((ends(truth)[0] > 0).mean()) for truth in (1.05, 2.0)]
    numbers = [covered, 1 - covered, *seen, within(2.0, 2.0), within(2.2, 2.0)]
    return f"| {kind} | {blocks} | " + " | ".join(f"{100 * number:.1f} %" for number in numbers) + " |"


if __name__ == "__main__":
    main()
