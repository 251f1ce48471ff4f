"""One trial: a fresh system on a fresh data folder, every phase once, and the record of what happened."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from benchbook.declare.workload import LoadOptions, QueryOptions
from benchbook.errors import BenchbookError, TrialFailed, TrialInvalid, Unavailable
from benchbook.plan.plan import PlannedTrial
from benchbook.run.context import Context, program_record
from benchbook.run.options import phase_options
from benchbook.run.stream import EventFile, required_summary
from benchbook.run.timeline import Timeline
from benchbook.systems.driver import Client, Driver, Place
from benchbook.workloads import load, query
from benchbook.workloads.measurement import Measurement

READY_SECONDS = 120.0
"""How long a server may take until it answers."""


class Trial:
    """Carries out one planned trial and fills its record."""

    def __init__(self, context: Context, planned: PlannedTrial, folder: Path) -> None:
        self.context = context
        self.planned = planned
        self.folder = folder
        self.system = context.system(str(planned.levels["system"]))
        self.dataset, self.digest = context.dataset(planned)
        self.timeline = Timeline(self._phase_begins)
        self.measurements: list[Measurement] = []
        self.errors: list[dict[str, Any]] = []
        self.checks: list[dict[str, Any]] = []
        self.version: str | None = None
        self.config_digest: str | None = None
        self.telemetry: Any = None
        self.telemetry_cost_seconds = 0.0

    def run(self) -> dict[str, Any]:
        """Do the trial; return its record. Only an interruption by the user is raised."""
        from benchbook.host import clock

        started_at = datetime.now(UTC)
        load_before = os.getloadavg()
        began = clock.mark()
        status, reason = "ok", None
        program = self.context.programs[self.system.name]
        if isinstance(program, Unavailable):
            status, reason = "skipped", str(program)
        else:
            try:
                self._work(program)
                self._verdict()
            except TrialInvalid as error:
                status, reason = "invalid", str(error)
            except TrialFailed as error:
                status, reason = "failed", str(error)
            except BenchbookError:
                raise  # the request or the results folder is at fault: no later trial would fare better
            except Exception as error:
                # A mistake of ours in one trial must not cost the others; its traceback stays with the trial.
                (self.folder / "harness-error.log").write_text(traceback.format_exc(), encoding="utf-8")
                status, reason = "failed", f"the harness itself failed: {error!r}; see harness-error.log"
        jumped = clock.jumped(began)
        if jumped and status == "ok":
            status, reason = "invalid", jumped
        return self._record(status, reason, started_at, load_before)

    def _work(self, program: Any) -> None:
        from benchbook.storage.lookup import storage
        from benchbook.systems.lookup import driver as system_driver
        from benchbook.telemetry import Telemetry

        declared = self.context.catalogue.storage(str(self.planned.levels["storage"]))
        place_for_data = storage(declared, self.context.scratch / f"{self.planned.index:04d}")
        data = place_for_data.mount()
        driver: Driver | None = None
        try:
            place = Place(
                program=program,
                arm=str(self.planned.levels["arm"]),
                settings=dict(self.system.arms[str(self.planned.levels["arm"])].settings),
                data=data,
                config=_made(self.folder / "config"),
                logs=_made(self.folder / "logs"),
                processes=self.context.results / "processes",
            )
            driver = system_driver(self.system.driver, place)
            client = driver.client(self.context.benchload)
            with self._samples() as sink:
                self.telemetry = Telemetry(driver.processes, client.processes, data, sink)
                with self.telemetry:
                    try:
                        self._phases(driver, client)
                    except TrialFailed as error:
                        raise TrialFailed(_with_last_words(error, driver)) from None
                    finally:
                        client.cancel()
                        with self.timeline.phase("stop"):
                            driver.stop()
        finally:
            if self.telemetry is not None:
                self._telemetry_measurements()
            place_for_data.unmount()
            shutil.rmtree(data, ignore_errors=True)

    def _phases(self, driver: Driver, client: Client) -> None:
        self._start(driver)
        with self.timeline.phase("prepare"):
            driver.prepare()
        events = EventFile(self.folder, self.context.observer.rate)
        try:
            for phase in self.context.plan.phases:
                options = phase_options(phase, self.planned.levels)
                if isinstance(options, LoadOptions):
                    self._load(phase["name"], options, driver, client, events)
                else:
                    self._query(phase["name"], options, client, events)
            self._answers(client, events)
        finally:
            events.close()

    def _start(self, driver: Driver) -> None:
        with self.timeline.phase("start"):
            texts = driver.configure()
            self.config_digest = _digest(json.dumps(texts, sort_keys=True))
            driver.start()
            deadline = time.monotonic() + READY_SECONDS
            while not driver.ready():
                if time.monotonic() > deadline:
                    raise TrialFailed(
                        f"{self.system.name} did not answer within {READY_SECONDS:.0f} s of its start."
                    )
                time.sleep(0.01)
            self.version = driver.version()
        if not self.system.accepts(self.version):
            raise TrialInvalid(
                f"{self.system.name} is pinned to {self.system.version}, the running system states {self.version}."
            )

    def _load(
        self, phase: str, options: LoadOptions, driver: Driver, client: Client, events: EventFile
    ) -> None:
        from benchbook.run import benchload

        asked = benchload.request(self.dataset, self.digest)
        with self.timeline.phase(phase, "load"):
            taken = events.take(phase, client.load(load.request(options, asked)))
        self._keep_errors(phase, taken.errors)
        summary = required_summary(taken, phase)
        with self.timeline.phase("settle"):
            driver.settle()
        settle_seconds = self.timeline.phases[-1].duration_seconds
        self.measurements += load.measurements(phase, summary, settle_seconds, int(self.digest["bytes"]))
        self._client_cpu(phase, summary)
        with self.timeline.phase("check"):
            self._check_counts(driver)
            self._size(driver)

    def _query(self, phase: str, options: QueryOptions, client: Client, events: EventFile) -> None:
        file = self.context.queries(self.dataset, options)
        with self.timeline.phase(phase, "query"):
            taken = events.take(phase, client.query(query.request(options, file)))
        self._keep_errors(phase, taken.errors)
        summary = required_summary(taken, phase)
        self.measurements += query.measurements(phase, summary, taken.histograms)
        self._client_cpu(phase, summary)

    def _answers(self, client: Client, events: EventFile) -> None:
        with self.timeline.phase("answers"):
            for phase in self.context.plan.phases:
                options = phase_options(phase, self.planned.levels)
                if isinstance(options, QueryOptions):
                    file = self.context.queries(self.dataset, options)
                    taken = events.take("answers", client.query(query.answers_request(options, file)))
                    self._keep_errors("answers", taken.errors)
                    wanted = min(query.ANSWERS, options.queries)
                    self._check(f"answers kept of {options.type}", wanted, taken.answers)

    def _check_counts(self, driver: Driver) -> None:
        found = driver.count()
        for table, digest in self.digest["tables"].items():
            counted = found.get(table)
            self._check(f"rows in {table}", digest["rows"], counted.rows if counted else 0)
            for field, values in digest["fields"].items():
                self._check(
                    f"values in {table}.{field}", values, counted.fields.get(field, 0) if counted else 0
                )

    def _size(self, driver: Driver) -> None:
        disk = float(sum(driver.size().values()))
        self.measurements.append(Measurement("trial", "disk_bytes", disk, "B", "lower"))
        values = float(self.digest["values"])
        self.measurements.append(Measurement("trial", "bytes_per_value", disk / values, "B", "lower"))

    def _check(self, name: str, expected: int, found: int) -> None:
        self.checks.append({"name": name, "expected": expected, "found": found, "ok": expected == found})

    def _verdict(self) -> None:
        """Raise TrialInvalid where data or answers are not whole: such a trial may not be compared."""
        wrong = [check for check in self.checks if not check["ok"]]
        if wrong:
            first = wrong[0]
            raise TrialInvalid(
                f"{first['name']}: {first['expected']} expected, {first['found']} found"
                + (f", and {len(wrong) - 1} more checks differ." if len(wrong) > 1 else ".")
            )

    def _keep_errors(self, phase: str, events: list[dict[str, Any]]) -> None:
        for event in events:
            self.errors.append(
                {
                    "phase": phase,
                    "kind": str(event.get("kind")),
                    "status": event.get("status"),
                    "message": str(event.get("message")),
                    "operations": int(event.get("operations") or 0),
                    "rows": int(event.get("rows") or 0),
                }
            )

    def _client_cpu(self, phase: str, summary: dict[str, Any]) -> None:
        cpu, duration = float(summary.get("client_cpu_ns") or 0) / 1e9, float(summary["duration_ns"]) / 1e9
        cores = os.cpu_count() or 1
        fraction = cpu / duration / cores if duration > 0 else 0.0
        self.measurements.append(Measurement(phase, "client_cpu_seconds", cpu, "s", "lower"))
        self.measurements.append(Measurement(phase, "client_cpu_fraction", fraction, "1", "lower"))

    def _telemetry_measurements(self) -> None:
        units = {"seconds": "s", "bytes": "B", "fraction": "1", "flushes": "1"}
        for phase, numbers in self.telemetry.summary().items():
            for metric, value in numbers.items():
                if value is not None and not metric.startswith("client_cpu"):
                    unit = units.get(metric.rsplit("_", 1)[-1], "1")
                    self.measurements.append(Measurement(phase, metric, float(value), unit, "lower"))
        self.telemetry_cost_seconds = float(self.telemetry.cost_seconds)

    @contextlib.contextmanager
    def _samples(self) -> Iterator[Any]:
        file: IO[str]
        with (self.folder / "telemetry.jsonl").open("w", encoding="utf-8") as file:
            yield lambda samples: file.writelines(
                json.dumps(sample, separators=(",", ":")) + "\n" for sample in samples
            )

    def _phase_begins(self, name: str) -> None:
        if self.telemetry is not None:
            self.telemetry.phase(name)
        self.context.observer.phase(name)

    def _record(
        self, status: str, reason: str | None, started_at: datetime, load_before: tuple[float, float, float]
    ) -> dict[str, Any]:
        planned, plan = self.planned, self.context.plan
        start_seconds = self.timeline.seconds_of("start")
        duration = self.timeline.seconds()
        overhead = self.timeline.overhead_seconds()
        if status != "skipped":
            self.measurements.append(Measurement("trial", "start_seconds", start_seconds, "s", "lower"))
            self.measurements.append(
                Measurement("trial", "overhead_fraction", overhead / duration, "1", "lower")
            )
        return {
            "schema": 1,
            "trial_id": planned.trial_id,
            "run_id": plan.run_id,
            "experiment": plan.experiment,
            "profile": plan.profile,
            "system": str(planned.levels["system"]),
            "arm": str(planned.levels["arm"]),
            "storage": str(planned.levels["storage"]),
            "cell": planned.cell,
            "levels": planned.levels,
            "block": planned.block,
            "position": planned.position,
            "index": planned.index,
            "status": status,
            "reason": reason,
            "started_at": started_at.isoformat(timespec="milliseconds"),
            "ended_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "duration_seconds": duration,
            "start_seconds": start_seconds,
            "overhead_seconds": overhead,
            "version_reported": self.version,
            "program": program_record(self.context.programs[self.system.name]),
            "config_digest": self.config_digest,
            "dataset_digest": f"sha256:{self.digest['sha256']}",
            "queries_digest": self.context.queries_digest(),
            "cache_state": "warm",
            "data_to_memory": float(self.digest["bytes"]) / _memory_bytes(),
            "load_before": dict(zip(("load1", "load5", "load15"), load_before, strict=True)),
            "phases": [entry.as_dict() for entry in self.timeline.phases],
            "measurements": [measurement.as_dict() for measurement in self.measurements],
            "errors": self.errors,
            "checks": self.checks,
            "telemetry_cost_seconds": self.telemetry_cost_seconds,
        }


def _with_last_words(error: TrialFailed, driver: Driver) -> str:
    """Return the failure, with what the server said last where it has died of it."""
    try:
        driver.ready()
    except TrialFailed as died:
        if str(died) not in str(error):
            return f"{error} {died}"
    return str(error)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _memory_bytes() -> float:
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
