"""The workload ``inch``: write points of every combination of tag values into a separate table."""

from __future__ import annotations

from datetime import timedelta
from math import prod
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from benchbook.declare.metric import SERIES
from benchbook.declare.toml import Positive
from benchbook.declare.workload import Workload
from benchbook.measure.measurement import Measurement

from .series import SeriesOptions, extent, load, request

if TYPE_CHECKING:
    from benchbook.run.steps import Steps

TABLE = "m0"
"""Table of the tool, and of the generator of the same name."""


class InchOptions(SeriesOptions):
    """Options of the workload ``inch``: write points of every combination of tag values into a separate table."""

    tags: Annotated[list[Positive], Field(min_length=1, max_length=16)] = Field(default=[10, 10, 10])
    """Number of values of each tag; every combination is a series."""
    points: Positive = 100
    """Points of each series."""
    fields: Annotated[int, Field(ge=1, le=1000)] = 1
    """Fields of a point."""
    batch_size: Positive = 5000
    """Points per write."""
    workers: Positive = 1
    """Writes in flight."""

    @property
    def series(self) -> int:
        """Number of series."""
        return prod(self.tags)


def run(steps: Steps, phase: str, options: InchOptions) -> None:
    """Write every point of every series, and count the points in the server."""
    from benchbook.systems.driver import TableCount

    fields = {
        "v0" if place == 0 else f"v0{place}": options.series * options.points
        for place in range(options.fields)
    }
    rows = options.series * options.points
    tables = {TABLE: TableCount(rows, fields)}
    flags = (*extent(options.series, timedelta(milliseconds=1) * options.points, "1ms"),
             f"--tags={','.join(map(str, options.tags))}", f"--fields={options.fields}")  # fmt: skip
    summary = load(steps, phase, workload.name, request("inch", flags, tables, options), TABLE)
    steps.findings.check("points", f"points acknowledged in {phase}", rows, int(summary["rows"]))
    steps.findings.measurements.append(Measurement(phase, "series", float(options.series)))


workload = Workload(
    name="inch",
    options=InchOptions,
    run=run,
    metrics=(
        *SERIES,
        "series",
    ),
    compared=("rows_per_second",),
)
