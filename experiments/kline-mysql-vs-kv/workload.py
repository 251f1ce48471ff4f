"""The workload ``kline``: short and long reads of bars, with or without the defects of the published readers."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from benchbook.declare.dataset import Dataset
from benchbook.declare.duration import Duration, seconds
from benchbook.declare.metric import LATENCY, OPEN_LOOP
from benchbook.declare.toml import Name, Positive
from benchbook.declare.workload import LoopOptions, Metric, Rate, Workload
from benchbook.measure.measurement import Event, Measurement
from benchbook.measure.operations import latency, open_loop
from benchbook.measure.rate import per_second
from benchbook.plan.plan import PlannedTrial

if TYPE_CHECKING:
    from benchbook.run.ceiling import Alone
    from benchbook.run.context import Context
    from benchbook.run.steps import Steps
    from benchbook.systems.driver import Operations

Read = Literal["short", "long"]
Method = Literal["as-published", "any-stock", "same-bars", "corrected"]

PUBLISHED = "published"
"""Level of ``in_flight`` that selects the published number of each system."""
CLAIMED_IN_FLIGHT = 64
"""Reads in flight that the publication claims for every system; used for a system that it did not measure."""


class KlineOptions(LoopOptions):
    """Options of the workload ``kline``: read ranges of one-minute bars for a fixed time."""

    read: Read
    """``short``: one bar. ``long``: all bars of eight trading days."""
    method: Method = "corrected"
    """Which faults of the published method are corrected; each step includes those before it. ``as-published``: none.
    ``any-stock``: all systems read any stock; the publication's MySQL reader always read the first one.
    ``same-bars``: a short read returns one bar; the publication read a minute before and after it from SQL databases.
    ``corrected``: every answer is decoded and its bars counted; the publication did not for the key-value store."""
    in_flight: Positive | Literal["published"] = CLAIMED_IN_FLIGHT
    """Reads in flight, each on a separate connection; ``published`` uses ``published_in_flight``."""
    published_in_flight: dict[Name, Positive] = Field(default_factory=dict)
    """System → reads in flight according to the raw records of the publication."""
    duration: Duration = "5s"
    """Time for which to repeat the requests, such as ``5s``."""
    requests: Annotated[int, Field(ge=20, le=1_000_000)] = 5000
    """Number of different requests, drawn before the run; the same for every system."""
    warmup: Annotated[int, Field(ge=0)] = 100
    """Reads before the timed ones; the results mark them as warm-up."""
    timeout: Duration = "30s"
    """Longest time for one read."""

    def in_flight_of(self, system: str) -> int:
        """Return the number of reads in flight for a system."""
        if self.in_flight == PUBLISHED:
            return self.published_in_flight.get(system, CLAIMED_IN_FLIGHT)
        return int(self.in_flight)


Defect = Literal["one-stock", "three-bars", "undecoded"]
"""Defects of published readers: always reading the first stock, reading one more minute on each side of the bar of a
short read, or accepting any answer.
"""

SQL_DEFECTS: frozenset[Defect] = frozenset({"one-stock", "three-bars"})
"""The defects of the published reader of MySQL, used for every SQL database without a published reader."""

PUBLISHED_DEFECTS: dict[str, frozenset[Defect]] = {
    "postgresql": frozenset({"three-bars"}),
    "redis": frozenset({"undecoded"}),
    "kvrocks": frozenset({"undecoded"}),
}
"""Driver → the defects of the reader that the publication used for it."""

ANSWERS = 20
"""Answers of each kind of read that are compared with the dataset and across systems."""

CORRECTED: dict[str, frozenset[Defect]] = {
    "as-published": frozenset(),
    "any-stock": frozenset({"one-stock"}),
    "same-bars": frozenset({"one-stock", "three-bars"}),
    "corrected": frozenset({"one-stock", "three-bars", "undecoded"}),
}
"""Method → defects of the published readers that it corrects."""

FLAGS: dict[Defect, str] = {"one-stock": "--one-stock", "three-bars": "--margin=60s"}
"""Defects that affect the requests, as flags of ``benchload bars-requests``."""


def remaining_defects(options: KlineOptions, driver: str) -> frozenset[Defect]:
    """Return the defects of the published reader of a driver's systems that the method does not correct."""
    return PUBLISHED_DEFECTS.get(driver, SQL_DEFECTS) - CORRECTED[options.method]


def request_flags(options: KlineOptions, defects: frozenset[Defect]) -> tuple[str, ...]:
    """Return the flags for the requests of a phase."""
    shown = [
        FLAGS[one] for one in sorted(defects & FLAGS.keys()) if one != "three-bars" or options.read == "short"
    ]
    return (f"--read={options.read}", f"--count={options.requests}", *shown)


def prepare(context: Context, dataset: Dataset, options: KlineOptions) -> None:
    """Draw the requests that the clients of a phase may need, before the first trial."""
    from benchbook.run import benchload

    kept = CORRECTED["corrected"] - CORRECTED[options.method]
    none: frozenset[Defect] = frozenset()
    for defects in {none, kept & {"one-stock"}, kept & {"three-bars"}, kept & frozenset(FLAGS)}:
        flags = request_flags(options, defects)
        key = _key(dataset, options, defects)
        if key not in context.query_files:
            seed = f"--request-seed={dataset.seed}"
            text = benchload.output(context.benchload, "bars-requests", *dataset.flags(), seed, *flags)
            name = hashlib.sha256(text.encode()).hexdigest()[:12]
            context.query_files[key] = benchload.keep(
                text, context.folder / "queries" / f"{options.read}-{name}.jsonl"
            )


def run(steps: Steps, phase: str, options: KlineOptions) -> None:
    """Read for the duration, timed; then compare untimed answers with the dataset."""
    from benchbook.run.findings import required_summary

    system = str(steps.planned.levels["system"])
    defects = remaining_defects(options, steps.context.system(system).driver)
    in_flight, undecoded = options.in_flight_of(system), "undecoded" in defects
    flags = {
        "duration": timedelta(seconds=seconds(options.duration)),
        "rate": options.rate or None,
        "arrivals": options.arrivals if options.rate else None,
        "warmup": options.warmup,
        "undecoded": undecoded,
    }
    record = steps.operations(phase)
    with steps.timeline.phase(phase, workload.name):
        taken = steps.events.take(
            phase,
            steps.client.perform(
                _reads(steps, options, _file(steps, options, defects), in_flight, flags, record)
            ),
        )
    steps.findings.keep_errors(phase, taken.errors)
    summary = required_summary(taken, phase)
    steps.findings.measurements += measurements(
        phase, summary, taken.histograms, in_flight, undecoded=undecoded
    )
    steps.findings.client_cpu(phase, summary)
    with steps.timeline.phase("answers"):
        checked = _reads(steps, options, _file(steps, options, frozenset()), 1, {"answers": ANSWERS})
        kept = steps.events.take("answers", steps.client.perform(checked))
        steps.findings.keep_errors("answers", kept.errors)
        steps.findings.check("reads", f"{options.read} reads equal to the dataset", ANSWERS, kept.answers)


def _reads(
    steps: Steps,
    options: KlineOptions,
    file: Path,
    in_flight: int,
    flags: dict[str, Any],
    record: Path | None = None,
) -> Operations:
    """Return the reads of a file of requests, timed or for their answers."""
    from benchbook.systems.driver import Operations

    timeout = timedelta(seconds=seconds(options.timeout))
    always: dict[str, Any] = {"requests": file, "workers": in_flight, "timeout": timeout}
    return Operations("bars-read", always | flags, steps.dataset.flags(), f"{__package__}.bars", record)


def measurements(
    phase: str, summary: Event, histograms: list[Event], in_flight: int, *, undecoded: bool = False
) -> list[Measurement]:
    """Return the metrics of a phase; latencies come from the merged histograms of its timed reads.

    For answers that are not decoded, rows follow from the bytes: whole days, even if one bar was requested.
    """
    reads, rate = float(summary["operations"]), per_second(summary)
    errors = float(summary.get("errors") or 0)
    rows_per_read = float(summary["rows"]) / reads if reads else 0.0
    return [
        Measurement(phase, "reads_per_second", reads * rate),
        Measurement(phase, "rows_per_second", float(summary["rows"]) * rate),
        Measurement(phase, "bytes_per_second", float(summary["bytes"]) * rate),
        Measurement(phase, "reads", reads),
        Measurement(phase, "rows_per_read", rows_per_read),
        Measurement(phase, "rows_decoded_per_read", 0.0 if undecoded else rows_per_read),
        Measurement(phase, "errors", errors),
        Measurement(phase, "in_flight", float(in_flight)),
        *open_loop(phase, summary),
        *latency(phase, histograms),
    ]


def _file(steps: Steps, options: KlineOptions, defects: frozenset[Defect]) -> Path:
    return steps.context.query_files[_key(steps.dataset, options, defects)]


def _key(
    dataset: Dataset, options: KlineOptions, defects: frozenset[Defect]
) -> tuple[tuple[str, ...], str, int]:
    return dataset.flags(), " ".join(request_flags(options, defects)), options.requests


def alone(context: Context, _: Dataset) -> list[Alone]:
    """Return the reads of each phase, from a store inside benchload."""
    from benchbook.run.ceiling import Alone, of_phases

    def of(dataset: Dataset, trial: PlannedTrial, options: KlineOptions) -> Alone:
        file = context.query_files[_key(dataset, options, frozenset())]
        workers = options.in_flight_of(str(trial.levels["system"]))
        arguments = (
            "bars-read", *dataset.flags(), f"--requests={file}", f"--workers={workers}", "--target=null",
        )  # fmt: skip
        return Alone(arguments, served=False, about={"workers": workers})

    return of_phases(context, workload.name, of)


workload = Workload(
    name="kline",
    options=KlineOptions,
    run=run,
    metrics=(
        "rows_per_second",
        "bytes_per_second",
        "errors",
        *OPEN_LOOP,
        *LATENCY,
        Metric(
            "reads_per_second",
            "1/s",
            "higher",
            "Reads per second",
            "reads",
            "reads/s",
            did="answered {ratio} times as many {phase} reads per second as",
        ),
        Metric("reads", "1", "none", "Reads answered", "reads"),
        Metric("rows_per_read", "1", "none", "Bars received per read", "bars"),
        Metric("rows_decoded_per_read", "1", "none", "Bars decoded per read", "bars"),
        Metric("in_flight", "1", "none", "Reads in flight", "reads"),
    ),
    compared=("reads_per_second", "latency_p99"),
    rate=Rate("reads_per_second", "operations_per_second", "reads_per_second"),
    prepare=prepare,
    alone=alone,
    reads=True,
)

workloads = {workload.name: workload}
