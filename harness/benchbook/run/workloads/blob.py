"""The workload ``blob``: put, get and delete objects; then read every object back and compare digests."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.declare.duration import seconds
from benchbook.declare.workload import BlobOptions
from benchbook.errors import TrialFailed
from benchbook.measure.measurement import Event, Measurement, per_second
from benchbook.run.workloads.query import latency, open_loop
from benchbook.systems.driver import BlobRequest, Blobs

if TYPE_CHECKING:
    from benchbook.run.steps import Steps

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

    client = steps.client
    if not isinstance(client, Blobs):
        raise TrialFailed(
            f"{steps.planned.levels['system']} does not store objects.",
            "Leave this system out of the experiment.",
        )
    asked = request(steps, phase, options)
    if options.sync_limit and not steps.storage.throttled():  # fio would run outside the limit
        _measure_limit(steps, phase, options)
    with steps.timeline.phase(phase, "blob"):
        taken = steps.events.take(phase, client.blob(asked))
    steps.findings.keep_errors(phase, taken.errors)
    summary = required_summary(taken, phase)
    if asked.lasts_seconds is not None and int(summary["window_ns"]) < asked.lasts_seconds * 1e9:
        steps.findings.note_out_of_objects(phase, asked.lasts_seconds)
    settled = 0.0
    if options.do != "get":
        with steps.timeline.phase("settle") as settle:
            steps.driver.settle()
        settled = settle.duration_seconds - steps.driver.watched_seconds
    with steps.timeline.phase("check"):
        # A get changes nothing, so what the puts before it stored has been read back already.
        changed = options.do not in ("delete", "get")
        stored = _read_back(steps, phase, client, asked) if changed else 0
        if options.do == "put":
            steps.findings.size(steps.driver.size(), stored, stored)
    steps.findings.measurements += measurements(phase, summary, settled)
    steps.findings.measurements += latency(phase, taken.histograms)
    steps.findings.client_cpu(phase, summary)
    if options.duration is not None:
        steps.findings.leave_out_amounts(phase)


def request(steps: Steps, phase: str, options: BlobOptions) -> BlobRequest:
    """Return the request for a client."""
    return BlobRequest(
        flags=steps.dataset.flags(),
        do=options.do,
        kept=steps.context.scratch / f"{steps.planned.index:04d}.kept",
        workers=options.workers,
        batch=options.batch,
        operations=options.operations,
        lasts_seconds=None if options.duration is None else seconds(options.duration),
        mix=options.mix if options.do == "mixed" else None,
        rate=options.rate,
        arrivals=options.arrivals,
        timeout_seconds=seconds(options.timeout),
        record=steps.operations(phase),
    )


def _measure_limit(steps: Steps, phase: str, options: BlobOptions) -> None:
    """Measure the sync rate of the disk below the data, before each trial's objects: disks change within minutes."""
    folder = steps.context.scratch / f"{steps.planned.index:04d}"
    size = max(1, int(steps.digest["bytes"]) // max(1, int(steps.digest["objects"])))
    with steps.timeline.phase("sync-limit"):
        rate = measure_sync_limit(folder, options.workers, size)
    if rate is not None:
        steps.findings.measurements.append(Measurement(phase, "synced_writes_per_second", rate))


def _read_back(steps: Steps, phase: str, client: Blobs, asked: BlobRequest) -> int:
    """Compare every acknowledged object with what the store returns; return how many there are."""
    wanted = BlobRequest(
        flags=asked.flags, do="check", kept=asked.kept, workers=CHECK_WORKERS,
        timeout_seconds=asked.timeout_seconds,
    )  # fmt: skip
    found: Event = {}
    for event in client.blob(wanted):
        if event["type"] == "checked":
            found = event
    if not found:
        raise TrialFailed(f"{phase}: could not read the objects back.")
    for name, expected, got in checks(phase, found, steps.digest, whole=_is_prefix(asked.kept)):
        steps.findings.check("objects", name, expected, got)
    return int(found["objects"])


def _is_prefix(kept: Path) -> bool:
    """Return whether the acknowledged objects are the first ones of the dataset, with no gaps."""
    lines = kept.read_text().splitlines() if kept.exists() else []
    return [int(line.partition("\t")[0]) for line in lines] == list(range(len(lines)))


def checks(
    phase: str, found: Event, digest: dict[str, Any], *, whole: bool = True
) -> list[tuple[str, int, int]]:
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
    rate = per_second(summary)
    found = [
        Measurement(phase, "objects_per_second", objects * rate),
        Measurement(phase, "operations_per_second", operations * rate),
        Measurement(phase, "bytes_per_second", float(summary["bytes"]) * rate),
        Measurement(phase, "objects", objects),
        Measurement(phase, "operations", operations),
        Measurement(phase, "errors", float(summary.get("errors") or 0)),
        Measurement(phase, "acknowledged_seconds", duration),
        Measurement(phase, "settled_seconds", duration + settle_seconds),
    ]
    return found + open_loop(phase, summary)
