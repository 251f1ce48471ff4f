"""Load throughput: how fast each system acknowledged the dataset."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.report.cell import Wanted
from benchbook.report.charts import strip
from benchbook.report.figure import Figure
from benchbook.report.results import Run
from benchbook.report.words import Words


def chart(
    run: Run,
    metric: str = "rows_per_second",
    phase: str | None = None,
    title: str | None = None,
    only: Mapping[str, Wanted] | None = None,
) -> Figure | Words:
    """Draw the throughput of the load phase (or of ``phase``): one row a cell, every trial a point."""
    loads = run.phases("load")
    return strip.chart(run, phase or (loads[0] if loads else "load"), metric, title, only)
