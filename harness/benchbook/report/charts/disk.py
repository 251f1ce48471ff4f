"""Bytes on disk, measured after settling."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.report.cell import Wanted
from benchbook.report.charts import strip
from benchbook.report.figure import Figure
from benchbook.report.results import Run
from benchbook.report.words import Words


def chart(run: Run, metric: str = "disk_bytes", only: Mapping[str, Wanted] | None = None) -> Figure | Words:
    """Draw the size of each system's files: one row a cell, every trial a point; ``only`` as of a strip."""
    return strip.chart(run, "trial", metric, only=only)
