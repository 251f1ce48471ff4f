"""Options of the workloads ``inch`` and ``stress``: rows whose trait is how many series they are of."""

from __future__ import annotations

from math import prod
from typing import Annotated

from pydantic import Field

from benchbook.declare.duration import Duration
from benchbook.declare.model import Model, Positive


class InchOptions(Model):
    """Options of the workload ``inch``: every combination of tags, so many points of each, into its own table."""

    tags: Annotated[list[Positive], Field(min_length=1, max_length=16)] = Field(default=[10, 10, 10])
    """How many values each tag has; every combination is a series."""
    points: Positive = 100
    """Points of each series."""
    fields: Annotated[int, Field(ge=1, le=1000)] = 1
    """Fields of a point."""
    batch_size: Positive = 5000
    """Points a write."""
    workers: Positive = 1
    """Writes in flight."""
    gzip: bool = False
    timeout: Duration = "30s"
    """How long one write may take."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 5
    """How often a write is sent again that the server could not do then (429, 5xx)."""

    @property
    def series(self) -> int:
        """How many series there are."""
        return prod(self.tags)


class StressOptions(Model):
    """Options of the workload ``stress``: points as fast as they are taken, for a time, into its own table.

    Series are written one after the other, so their number grows until all are known.
    """

    lasts: Duration = "60s"
    """How long to write."""
    series: Positive = 100_000
    """Series at most."""
    batch_size: Positive = 10_000
    """Points a write."""
    workers: Positive = 20
    """Writes in flight."""
    gzip: bool = False
    timeout: Duration = "30s"
    """How long one write may take."""
    retries: Annotated[int, Field(ge=0, le=1000)] = 5
    """How often a write is sent again that the server could not do then (429, 5xx)."""
