"""The workload ``entries``: writes and reads of the LevelDB benchmark of July 2011, whose values are all checked."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from benchbook.declare.duration import Duration, seconds
from benchbook.declare.metric import LATENCY
from benchbook.declare.toml import Positive
from benchbook.declare.workload import Metric, Options, Workload
from benchbook.measure.measurement import Event, Measurement
from benchbook.measure.operations import latency
from benchbook.measure.rate import to_last_answer

if TYPE_CHECKING:
    from benchbook.run.steps import Steps

FILL = "fill-"


class EntriesOptions(Options):
    """Options of the workload ``entries``: write or read entries of an embedded store, one at a time."""

    do: Literal[
        "fill-sequential", "fill-random", "fill-shuffled",
        "read-sequential", "read-random", "read-shuffled", "read-hot",
    ]  # fmt: skip
    """``fill-…`` begins with an empty store; ``random`` draws keys with repetition, as the program of 2011 does;
    ``shuffled`` visits each key once; ``read-hot`` draws among the first keys."""
    entries: Positive = 1_000_000
    """Keys; the same in all phases that share a store."""
    value_bytes: Annotated[int, Field(ge=1, le=500_000)] = 100
    """Bytes of a value, half of which a simple compressor removes."""
    batch: Positive = 1
    """Entries of one atomic write."""
    writes: Annotated[int, Field(ge=0)] = 0
    """Writes of a fill; 0 for as many as there are entries."""
    hot_percent: Annotated[int, Field(ge=1, le=100)] = 1
    """Share of the keys that ``read-hot`` reads."""
    lasts: Duration = "2s"
    """Shortest timed part of the phase: shorter work is done again, a fill in a new store. Emptying is not timed."""


def flags(options: EntriesOptions, do: str, holds: str) -> dict[str, Any]:
    """Return the flags of the client."""
    return {
        "do": do,
        "holds": holds,
        "entries": options.entries,
        "value-bytes": options.value_bytes,
        "batch": options.batch,
        "operations": options.writes or None,
        "hot-percent": options.hot_percent,
    }


def run(steps: Steps, phase: str, options: EntriesOptions) -> None:
    """Do the writes or reads; after a fill, read every entry back."""
    from benchbook.run.findings import required_summary
    from benchbook.systems.driver import Operations

    written = steps.folder / "filled"
    fills = options.do.startswith(FILL)
    if fills:
        writes = options.writes or max(1, options.entries // options.batch)
        written.write_text(f"{options.do.removeprefix(FILL)} {writes * options.batch}")
    holds, _, number = (written.read_text() if written.exists() else "nothing 0").partition(" ")

    def operations(do: str, **more: Any) -> Operations:
        return Operations("entries", {**flags(options, do, holds), "written": int(number), **more})

    with steps.timeline.phase(phase, workload.name):
        taken = steps.events.take(
            phase,
            steps.client.perform(operations(options.do, lasts=timedelta(seconds=seconds(options.lasts)))),
        )
    steps.findings.keep_errors(phase, taken.errors)
    summary = required_summary(taken, phase)
    steps.findings.measurements += measurements(phase, summary, taken.histograms, fills=fills)
    steps.findings.client_cpu(phase, summary)
    if not fills:
        return
    with steps.timeline.phase("settle"):
        steps.driver.settle()
    with steps.timeline.phase("check"):
        read = required_summary(
            steps.events.take("check", steps.client.perform(operations("check"))), "check"
        )
    steps.findings.check("rows", f"entries read back after {phase} that differ", 0, int(read["errors"]))
    held = int(read["operations"])
    steps.findings.size(steps.driver.size(), held, held)


def measurements(phase: str, summary: Event, histograms: list[Event], *, fills: bool) -> list[Measurement]:
    """Return the metrics of a phase. A read of an absent key counts, as in the publication."""
    rate = to_last_answer(summary)
    counted = float(summary["rows"] if fills else summary["operations"])
    return [
        Measurement(phase, "entries_per_second", counted * rate),
        Measurement(phase, "operations_per_second", float(summary["operations"]) * rate),
        Measurement(phase, "operations", float(summary["operations"])),
        Measurement(phase, "errors", float(summary.get("errors") or 0)),
        *latency(phase, histograms),
    ]


workload = Workload(
    name="entries",
    options=EntriesOptions,
    run=run,
    metrics=(
        Metric(
            "entries_per_second", "1/s", "higher", "Entries per second", "entries",
            did="did {ratio} times as many {phase} operations per second as", main=True,
        ),
        "operations_per_second",
        "operations",
        "errors",
        *LATENCY,
    ),
    compared=("entries_per_second",),
    own_data=True,
)  # fmt: skip

workloads = {workload.name: workload}
