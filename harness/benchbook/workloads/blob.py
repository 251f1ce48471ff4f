"""The workload ``blob``: put, get and delete objects; then read every object back and compare digests."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from benchbook.declare.dataset import Dataset, Digested
from benchbook.declare.duration import Duration, seconds
from benchbook.declare.metric import LATENCY, OPEN_LOOP
from benchbook.declare.toml import Positive
from benchbook.declare.workload import LoopOptions, Metric, Rate, Words, Workers, Workload, refuse_two_ends
from benchbook.errors import TrialFailed
from benchbook.measure.measurement import Event, Measurement
from benchbook.measure.operations import latency, open_loop
from benchbook.measure.rate import to_last_answer
from benchbook.plan.plan import PlannedTrial

if TYPE_CHECKING:
    from benchbook.run.ceiling import Alone
    from benchbook.run.context import Context
    from benchbook.run.steps import Steps
    from benchbook.systems.driver import Operations

_PART = re.compile(r"(put|get|delete)=(\d+(?:\.\d+)?)")


def _mix(text: str) -> str:
    parts = [_PART.fullmatch(part) for part in text.split(",")]
    if not all(parts) or not any(float(part[2]) > 0 for part in parts if part):
        raise ValueError(f'"{text}" is not a mix; write parts such as "put=1,get=8,delete=1"')
    return text


class BlobOptions(LoopOptions):
    """Options of the workload ``blob``: put, get and delete the objects of the dataset."""

    do: Literal["put", "get", "delete", "mixed"]
    """Operation: put every object, get or delete the stored ones, or a mix of the three."""
    mix: Annotated[str, AfterValidator(_mix)] = "put=1,get=2,delete=1"
    """Weights of the operations if ``do`` is ``mixed``."""
    operations: Annotated[int, Field(ge=0)] = 0
    """Operations; 0 for one per object."""
    duration: Duration | None = None
    """For how long operations begin, in place of a number of them. A put continues with new objects after those
    of the dataset, a get asks for objects again. A delete ends early when no object is left."""
    batch: Positive = 1
    """Objects of one put: in one transaction, or one after the other in a store without transactions."""
    workers: Workers = 1
    """Operations in flight."""
    sync_limit: bool = False
    """True if fio measures, untimed and before the phase, how many synced writes per second the disk reaches. The
    writes have the mean size of an object, and there are as many jobs as workers. Without fio,
    Benchbook omits the measurement."""
    timeout: Duration = "30s"
    """Longest time for one operation."""

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        refuse_two_ends("operations", self.operations or None, self.duration)
        return self


SECONDS = 1
"""Duration of the measurement: long enough for some hundred syncs of a slow disk."""
FIO = "fio"


def measure_sync_limit(folder: Path, workers: int, size: int) -> float | None:
    """Return the synced writes per second of ``workers`` jobs, each on its own file; None without fio."""
    program = shutil.which(FIO)
    if program is None:
        return None
    place = folder / "sync-limit"
    place.mkdir()
    command = [
        program, "--name=sync", f"--directory={place}", "--rw=write", "--ioengine=psync", "--fsync=1",
        f"--bs={size}", "--size=16m", f"--numjobs={workers}", "--group_reporting", "--time_based",
        f"--runtime={SECONDS}", "--output-format=json",
    ]  # fmt: skip
    try:
        ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60 + SECONDS)
        found = json.loads(ran.stdout[ran.stdout.index("{") :])
        return float(found["jobs"][0]["write"]["iops"])
    except (OSError, ValueError, LookupError, subprocess.TimeoutExpired) as error:
        raise TrialFailed(f"fio could not measure the disk's sync rate: {error}.") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


CHECK_WORKERS = 4
"""Operations in flight while objects are read back, which is not timed."""


def run(steps: Steps, phase: str, options: BlobOptions) -> None:
    """Do the operations, let the system settle if they wrote, and read every object back."""
    from benchbook.run.findings import required_summary

    if options.sync_limit and not steps.storage.throttled():  # fio would run outside the limit
        _measure_limit(steps, phase, options)
    with steps.timeline.phase(phase, workload.name):
        taken = steps.events.take(phase, steps.client.perform(request(steps, phase, options)))
    steps.findings.keep_errors(phase, taken.errors)
    summary = required_summary(taken, phase)
    if options.duration is not None and int(summary["window_ns"]) < seconds(options.duration) * 1e9:
        steps.findings.note_out_of_objects(phase, seconds(options.duration))
    settled = 0.0
    if options.do != "get":
        with steps.timeline.phase("settle") as settle:
            steps.driver.settle()
        settled = settle.duration_seconds - steps.driver.watched_seconds
    with steps.timeline.phase("check"):
        # A get changes nothing, so what the puts before it stored has been read back already.
        changed = options.do not in ("delete", "get")
        stored = _read_back(steps, phase, options) if changed else 0
        if options.do == "put":
            steps.findings.size(steps.driver.size(), stored, stored)
    steps.findings.measurements += measurements(phase, summary, settled)
    steps.findings.measurements += latency(phase, taken.histograms)
    steps.findings.client_cpu(phase, summary)
    if options.duration is not None:
        steps.findings.leave_out_amounts(phase)


def request(steps: Steps, phase: str, options: BlobOptions) -> Operations:
    """Return the request for a client."""
    lasts = None if options.duration is None else timedelta(seconds=seconds(options.duration))
    flags = {
        "workers": options.workers,
        "batch": options.batch,
        "operations": options.operations or None,
        "duration": lasts,
        "mix": options.mix if options.do == "mixed" else None,
        "rate": options.rate or None,
        "arrivals": options.arrivals if options.rate else None,
    }
    return _operations(steps, options, options.do, flags, steps.operations(phase))


def _operations(
    steps: Steps, options: BlobOptions, do: str, flags: dict[str, Any], record: Path | None = None
) -> Operations:
    from benchbook.systems.driver import Operations

    always: dict[str, Any] = {
        "do": do,
        "kept": _kept(steps),
        "timeout": timedelta(seconds=seconds(options.timeout)),
    }
    return Operations("blob", always | flags, steps.dataset.flags(), "benchbook.workers.blob", record)


def _kept(steps: Steps) -> Path:
    """Return the file in which the client records the names of the objects that the store must have."""
    return steps.context.scratch / f"{steps.planned.index:04d}.kept"


def _measure_limit(steps: Steps, phase: str, options: BlobOptions) -> None:
    """Measure the sync rate of the disk below the data, before each trial's objects: disks change within minutes."""
    folder = steps.context.scratch / f"{steps.planned.index:04d}"
    size = max(1, int(steps.digest["bytes"]) // max(1, int(steps.digest["objects"])))
    with steps.timeline.phase("sync-limit"):
        rate = measure_sync_limit(folder, options.workers, size)
    if rate is not None:
        steps.findings.measurements.append(Measurement(phase, "synced_writes_per_second", rate))


def _read_back(steps: Steps, phase: str, options: BlobOptions) -> int:
    """Compare every acknowledged object with what the store returns; return how many there are."""
    found: Event = {}
    wanted = _operations(steps, options, "check", {"workers": CHECK_WORKERS})
    for event in steps.client.perform(wanted):
        if event["type"] == "checked":
            found = event
    if not found:
        raise TrialFailed(f"{phase}: could not read the objects back.")
    for name, expected, got in checks(phase, found, steps.digest, whole=_is_prefix(_kept(steps))):
        steps.findings.check("objects", name, expected, got)
    return int(found["objects"])


def _is_prefix(kept: Path) -> bool:
    """Return whether the acknowledged objects are the first ones of the dataset, with no gaps."""
    lines = kept.read_text().splitlines() if kept.exists() else []
    return [int(line.partition("\t")[0]) for line in lines] == list(range(len(lines)))


def checks(phase: str, found: Event, digest: Digested, *, whole: bool = True) -> list[tuple[str, int, int]]:
    """Return name, expected and found number of each check of objects that were read back.

    With ``whole``, the objects are the first of the dataset; after a mix they may be others.
    """
    objects, same = int(found["objects"]), int(found["sha256"] == found["expected"])
    made = [
        (f"objects read back after {phase}", objects, int(found["read"])),
        (f"objects with other bytes after {phase}", 0, int(found["different"])),
        (f"deleted objects that are there after {phase}", 0, int(found["back"])),
        (f"digest of the objects after {phase} is that of what was put", 1, same),
    ]
    if whole and objects == int(digest["objects"]):
        of_dataset = int(found["sha256"] == digest["sha256"])
        made.append((f"digest of the objects after {phase} is that of the dataset", 1, of_dataset))
    return made


def measurements(phase: str, summary: Event, settle_seconds: float) -> list[Measurement]:
    """Return the metrics of a phase; an operation on several objects is one transaction."""
    duration = float(summary["duration_ns"]) / 1e9
    operations, objects = float(summary["operations"]), float(summary["rows"])
    rate = to_last_answer(summary)
    found = [
        Measurement(phase, "objects_per_second", objects * rate),
        Measurement(phase, "operations_per_second", operations * rate),
        Measurement(phase, "bytes_per_second", float(summary["bytes"]) * rate),
        Measurement(phase, "objects", objects),
        Measurement(phase, "operations", operations),
        Measurement(phase, "errors", float(summary.get("errors") or 0)),
        Measurement(phase, "retries", float(summary.get("retries") or 0)),
        Measurement(phase, "acknowledged_seconds", duration),
        Measurement(phase, "settled_seconds", duration + settle_seconds),
    ]
    return found + open_loop(phase, summary)


def alone(context: Context, _: Dataset) -> list[Alone]:
    """Return the operations of each phase except deletions, on a store inside benchload."""
    from benchbook.run.ceiling import Alone, of_phases

    def of(dataset: Dataset, _: PlannedTrial, options: BlobOptions) -> Alone | None:
        if options.do == "delete":
            return None
        arguments = (
            "blob", *dataset.flags(), f"--do={options.do}", f"--mix={options.mix}", f"--batch={options.batch}",
            f"--workers={options.workers}", "--target=null",
        )  # fmt: skip
        return Alone(arguments, served=False, about={"workers": options.workers})

    return of_phases(context, workload.name, of)


workload = Workload(
    name="blob",
    options=BlobOptions,
    run=run,
    metrics=(
        "bytes_per_second",
        "operations_per_second",
        "operations",
        "errors",
        "retries",
        "acknowledged_seconds",
        "settled_seconds",
        *OPEN_LOOP,
        *LATENCY,
        Metric(
            "objects_per_second",
            "1/s",
            "higher",
            "Objects per second",
            "objects",
            "objects/s",
            did="{done} {ratio} times as many objects per second as",
        ),
        Metric("objects", "1", "none", "Objects", "objects"),
        Metric("synced_writes_per_second", "1/s", "none", "Synced writes per second of fio", "writes"),
    ),
    compared=("objects_per_second", "latency_p99"),
    rate=Rate("objects_per_second", "rows_per_second", "operations_per_second"),
    alone=alone,
    words={
        "put": Words("putting", "put"),
        "get": Words("getting", "got"),
        "delete": Words("deleting", "deleted"),
    },
)
