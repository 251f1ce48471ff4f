"""How many times slower one place is than another, level by level, beside what was published of each level.

Every row is a claim of the run whose ratio is a slowdown: so many times as long, or so many times less a second.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from benchbook.analyse.run import Run
from benchbook.declare.catalogue import root
from benchbook.report.charts.ratio import Row, published_figure
from benchbook.report.figure import Figure
from benchbook.report.table import Words, missing


def chart(run: Run, levels: Mapping[str, str], what: str) -> Figure | Words:
    """Draw the claims named by ``levels`` (claim → the row's words); ``what`` says who is slower than whom."""
    from benchbook.analyse import claims

    judged = {
        one.id: one for one in claims.judge_run(run.results, run.run_id, root() / "datasets" / "published")
    }
    found = [
        Row(
            words, cell.published, cell.measured, cell.low, cell.high,
            tuple((block, math.exp(log)) for block, log in cell.logs), str(cell.verdict),
        )
        for claim, words in levels.items() if claim in judged
        for cell in judged[claim].cells
    ]  # fmt: skip
    title = f"{what}, rerun and published"
    if not any(row.measured for row in found):
        return missing(title, "no level was measured in both places in one block")
    return published_figure(run, title, found, "times slower, right of 1")
