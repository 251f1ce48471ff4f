"""The workload ``fio``: run one fio job in the data folder and convert its JSON."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StringConstraints

from benchbook.declare.duration import Duration, seconds
from benchbook.declare.metric import LATENCY
from benchbook.declare.toml import Positive
from benchbook.declare.workload import Metric, Options, Words, Workload
from benchbook.errors import TrialFailed
from benchbook.measure.measurement import Event, Measurement

if TYPE_CHECKING:
    from benchbook.run.steps import Steps

FIO = "fio"
"""The program, and its declaration in ``systems/``."""

Size = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*[kmgt]?$"), Field(examples=["256k", "4g"])]
"""A size as fio writes it: bytes, or with k, m, g, t the number of KiB, MiB, GiB, TiB."""


class FioOptions(Options):
    """Options of the workload ``fio``: run one job in the data folder. Names and defaults are those of fio."""

    rw: Literal["read", "write", "randread", "randwrite", "rw", "randrw"]
    """Access pattern: sequential or random reads, writes, or both."""
    block_size: Size = "4k"
    """Size of one operation."""
    size: Size = "1g"
    """Size of the file of each job."""
    jobs: Annotated[int, Field(ge=1, le=256)] = 1
    """Number of processes, each with a separate file."""
    io_engine: Literal["psync", "sync", "libaio", "mmap", "pvsync2"] = "psync"
    """System calls that fio uses."""
    io_depth: Positive = 1
    """Operations in flight of each job; more than 1 needs an asynchronous engine."""
    direct: bool = False
    """Bypass the page cache; FUSE may refuse it."""
    fsync: Annotated[int, Field(ge=0)] = 0
    """Number of writes between syncs of the file; 0 for no sync."""
    end_fsync: bool = False
    """Sync the file once at the end; without it, writes may remain in memory."""
    invalidate: bool = True
    """Drop the file's pages from the page cache before the job."""
    refill_buffers: bool = False
    """True if every write has new contents."""
    runs_for: Duration | None = None
    """Time for which to repeat the job, such as ``30s``; by default it ends with the file."""
    read_percent: Annotated[int, Field(ge=0, le=100)] = 50
    """Share of reads in ``rw`` and ``randrw``, in percent."""


PERCENTILES = {
    "latency_p50": "50.000000",
    "latency_p90": "90.000000",
    "latency_p95": "95.000000",
    "latency_p99": "99.000000",
    "latency_p999": "99.900000",
}
LOG_MILLISECONDS = 250
"""Interval at which fio logs its bandwidth, so that stalls show."""


def run(steps: Steps, phase: str, options: FioOptions) -> None:
    """Create the files if the job reads, run it, and keep fio's results."""
    program = steps.context.program(FIO)
    if program.path is None:
        raise TrialFailed("fio is a program, not a server.", "Give its path: --system fio=PATH")
    folder = steps.data / f"fio-{phase}"
    folder.mkdir()
    log = steps.folder / "logs" / f"fio-{phase}"
    command = [program.path, *arguments(options, phase, folder)]
    try:
        if "read" in options.rw or options.rw == "rw":
            with steps.timeline.phase("layout"):
                _run(steps, [*command, "--create_only=1"], phase, log.with_suffix(".layout.json"))
                steps.storage.sync()
        with steps.timeline.phase(phase, workload.name):
            timed = [
                *command,
                f"--write_bw_log={log}",
                f"--log_avg_msec={LOG_MILLISECONDS}",
                "--per_job_logs=0",
            ]
            stated = _run(steps, timed, phase, log.with_suffix(".json"))
        taken = steps.events.take(phase, events(stated, Path(f"{log}_bw.log")))
        steps.findings.measurements += measurements(phase, stated)
        assert taken is not None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def arguments(options: FioOptions, name: str, folder: Path) -> list[str]:
    """Return fio's command line for a job.

    >>> arguments(FioOptions(rw="read", size="4g", block_size="256k"), "read", Path("/d"))[:5]
    ['--name=read', '--directory=/d', '--rw=read', '--bs=256k', '--size=4g']
    """
    flags = {
        "name": name, "directory": folder, "rw": options.rw, "bs": options.block_size, "size": options.size,
        "numjobs": options.jobs, "ioengine": options.io_engine, "iodepth": options.io_depth,
        "direct": int(options.direct), "fsync": options.fsync, "end_fsync": int(options.end_fsync),
        "invalidate": int(options.invalidate), "randseed": 1, "group_reporting": 1,
        "output-format": "json+",
    }  # fmt: skip
    found = [f"--{flag}={value}" for flag, value in flags.items()]
    if options.refill_buffers:
        found.append("--refill_buffers")
    if options.runs_for is not None:
        found += ["--time_based", f"--runtime={seconds(options.runs_for):g}s"]
    if options.rw in ("rw", "randrw"):
        found.append(f"--rwmixread={options.read_percent}")
    return found


def _run(steps: Steps, command: list[Any], phase: str, output: Path) -> dict[str, Any]:
    """Run fio and return its job; raise TrialFailed with its error."""
    from benchbook.process import spawn

    log = output.with_suffix(".log")
    running = spawn.start(
        [*command, f"--output={output}"],
        name=f"fio {phase}",
        log=log,
        registry=steps.context.results / "processes",
    )
    ending = running.finish(steps.storage.check)
    try:
        job: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))["jobs"][0]
    except (OSError, ValueError, LookupError):
        raise TrialFailed(f"fio {phase} {ending}. The end of its log: {spawn.log_end(log)}") from None
    if ending != "exited with code 0" or job.get("error"):
        raise TrialFailed(
            f"fio {phase} {ending}, with error {job.get('error')}. The end of its log: {spawn.log_end(log)}",
            f"The whole output is {output}.",
        )
    return job


def directions(job: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield read and write, if the job did them, each with its results."""
    for name in ("read", "write"):
        if job[name]["total_ios"]:
            yield name, job[name]


def measurements(phase: str, job: dict[str, Any]) -> list[Measurement]:
    """Return the metrics of a job; if it reads and writes, the names of write metrics begin with ``write_``.

    Latency is fio's completion latency.
    """
    from benchbook.measure import histogram

    found: list[Measurement] = []
    for place, (_, stated) in enumerate(directions(job)):
        prefix = "write_" if place else ""
        latency = stated["clat_ns"]
        numbers = {"latency_mean": latency["mean"], "latency_max": latency["max"]}
        numbers |= {
            name: latency["percentile"][key]
            for name, key in PERCENTILES.items()
            if histogram.resolves(float(key), stated["total_ios"])
        }
        found += [
            Measurement(phase, f"{prefix}bytes_per_second", float(stated["bw_bytes"])),
            Measurement(phase, f"{prefix}operations_per_second", float(stated["iops"])),
            Measurement(phase, f"{prefix}bytes", float(stated["io_bytes"])),
            Measurement(phase, f"{prefix}operations", float(stated["total_ios"])),
            Measurement(phase, f"{prefix}seconds", float(stated["runtime"]) / 1e3),
        ]
        found += [Measurement(phase, prefix + name, value / 1e9) for name, value in numbers.items()]
    return found


def events(job: dict[str, Any], log: Path) -> Iterator[Event]:
    """Yield the job as events: intervals from its bandwidth log, then a histogram for each direction."""
    yield from _intervals(log)
    from hdrh.histogram import HdrHistogram

    for name, stated in directions(job):
        held = HdrHistogram(1, 3_600_000_000_000, 3)
        for nanoseconds, count in stated["clat_ns"].get("bins", {}).items():
            held.record_value(max(1, int(nanoseconds)), int(count))
        yield {
            "v": 1, "type": "histogram", "operation": name, "kind": "service", "unit": "ns",
            "count": int(held.total_count), "min_ns": stated["clat_ns"]["min"], "mean_ns": stated["clat_ns"]["mean"],
            "max_ns": stated["clat_ns"]["max"], "encoded": held.encode().decode(),
        }  # fmt: skip


def _intervals(log: Path) -> Iterator[Event]:
    """Yield an interval for each line of a bandwidth log: milliseconds, KiB/s, 0 for reads or 1 for writes."""
    last: dict[int, int] = {}
    index: dict[int, int] = {}
    try:
        lines = log.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        parts = [part.strip() for part in line.split(",")]
        until, rate, direction = int(parts[0]), int(parts[1]), int(parts[2])
        start = last.get(direction, 0)
        if until <= start:
            continue
        last[direction] = until
        place = index[direction] = index.get(direction, -1) + 1
        duration = until - start
        yield {
            "v": 1, "type": "interval", "operation": "write" if direction else "read", "index": place,
            "start_ns": start * 1_000_000, "duration_ns": duration * 1_000_000, "operations": 0, "rows": 0,
            "values": 0, "bytes": rate * 1024 * duration // 1000, "errors": 0, "histogram": "",
        }  # fmt: skip


workload = Workload(
    name="fio",
    client="fio does its own work",
    options=FioOptions,
    run=run,
    metrics=(
        "bytes_per_second",
        "seconds",
        "operations_per_second",
        "operations",
        *LATENCY,
        Metric("bytes", "B", "none", "Bytes"),
    ),
    compared=("bytes_per_second", "latency_p99"),
    programs=(FIO,),
    words={"read": Words("reading"), "write": Words("writing")},
)
