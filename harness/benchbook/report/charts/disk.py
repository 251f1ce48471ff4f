"""Bytes on disk, measured after settling."""

from __future__ import annotations

from benchbook.report.charts import strip
from benchbook.report.figure import Figure
from benchbook.report.results import Run
from benchbook.report.words import Words


def chart(run: Run, metric: str = "disk_bytes") -> Figure | Words:
    """Draw the size of each system's files: one row a cell, every trial a point."""
    return strip.chart(run, "trial", metric)
