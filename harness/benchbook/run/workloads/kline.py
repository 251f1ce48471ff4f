"""The workload ``kline``: short and long reads of bars, with or without the defects of the published readers."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.declare.dataset import Dataset
from benchbook.declare.duration import seconds
from benchbook.declare.workload import KlineOptions
from benchbook.errors import TrialFailed
from benchbook.measure.measurement import Event, Measurement, per_second
from benchbook.run.workloads.query import latency, open_loop
from benchbook.systems.client import BarsClient, BarsRequest, Defect

if TYPE_CHECKING:
    from benchbook.run.context import Context
    from benchbook.run.steps import Steps

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


def remaining_defects(options: KlineOptions, client: BarsClient) -> frozenset[Defect]:
    """Return the defects of a client's published reader that the method does not correct."""
    return client.published_defects - CORRECTED[options.method]


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
        key = (dataset.flags(), " ".join(flags), options.requests)
        if key not in context.query_files:
            text = benchload.bars_requests(context.benchload, dataset, flags)
            name = hashlib.sha256(text.encode()).hexdigest()[:12]
            context.query_files[key] = benchload.keep(
                text, context.folder / "queries" / f"{options.read}-{name}.jsonl"
            )


def run(steps: Steps, phase: str, options: KlineOptions) -> None:
    """Read for the duration, timed; then compare untimed answers with the dataset."""
    client = steps.client
    if not isinstance(client, BarsClient):
        raise TrialFailed(
            f"The workload kline needs a client that reads bars, and {steps.planned.levels['system']} has none.",
            "Name only other systems: --set system=A,B.",
        )
    system = str(steps.planned.levels["system"])
    defects = remaining_defects(options, client)
    request = BarsRequest(
        requests=_file(steps, options, defects),
        flags=steps.dataset.flags(),
        in_flight=options.in_flight_of(system),
        seconds=seconds(options.duration),
        rate=options.rate,
        arrivals=options.arrivals,
        warmup=options.warmup,
        undecoded="undecoded" in defects,
        timeout_seconds=seconds(options.timeout),
        record=steps.operations(phase),
    )
    with steps.timeline.phase(phase, "kline"):
        taken = steps.events.take(phase, client.bars(request))
    steps.findings.keep_errors(phase, taken.errors)
    if taken.summary is None:
        raise TrialFailed(f"{phase}: the client ended without a summary.")
    steps.findings.measurements += measurements(phase, taken.summary, taken.histograms, request)
    steps.findings.client_cpu(phase, taken.summary)
    with steps.timeline.phase("answers"):
        checked = BarsRequest(
            _file(steps, options, frozenset()), request.flags, 1, 0.0,
            timeout_seconds=request.timeout_seconds, answers=ANSWERS,
        )  # fmt: skip
        kept = steps.events.take("answers", client.bars(checked))
        steps.findings.keep_errors("answers", kept.errors)
        steps.findings.check("reads", f"{options.read} reads equal to the dataset", ANSWERS, kept.answers)


def measurements(
    phase: str, summary: Event, histograms: list[Event], request: BarsRequest
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
        Measurement(phase, "rows_decoded_per_read", 0.0 if request.undecoded else rows_per_read),
        Measurement(phase, "errors", errors),
        Measurement(phase, "in_flight", float(request.in_flight)),
        *open_loop(phase, summary),
        *latency(phase, histograms),
    ]


def _file(steps: Steps, options: KlineOptions, defects: frozenset[Defect]) -> Path:
    return steps.context.query_files[
        steps.dataset.flags(), " ".join(request_flags(options, defects)), options.requests
    ]
