"""Latency by percentile of one put and one get in flight, beside the published percentiles."""

from __future__ import annotations

import statistics

from benchbook.analyse.run import Run
from benchbook.declare import used
from benchbook.declare.catalogue import Catalogue
from benchbook.report.charts import curve
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown

SLUG = "seaweedfs-vs-postgres"
SYSTEMS = {"seaweedfs-4": "seaweedfs", "postgresql-15": "postgres"}
"""System → its name in the published results."""


def percentiles(run: Run, operation: str) -> Figure | Markdown:
    """Draw the latency of ``put`` or ``get`` with one in flight, objects of 4 KiB and the default configuration."""
    title = f"Latency of {operation}s of 4 KiB, one in flight"
    return curve.percentiles(run, f"{operation}-at-one", title, {"size": "4KiB"}, published(operation))


def published(operation: str) -> dict[str, dict[float, float]]:
    """Return system → percentile → published latency with one operation in flight, s: the median of the repeats."""
    catalogue = Catalogue()
    stated = used.drawn(catalogue.publication(SLUG), "percentiles", catalogue.published(SLUG))
    rows = [row for row in stated if row["op"] == operation]
    return {
        system: {
            at: statistics.median(values) / 1e3
            for metric, at in curve.PERCENTILES.items()
            if (
                values := [
                    float(row["value"]) for row in rows if (row["system"], row["metric"]) == (name, metric)
                ]
            )
        }
        for system, name in SYSTEMS.items()
    }
