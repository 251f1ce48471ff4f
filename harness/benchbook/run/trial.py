"""One trial: a fresh system on an empty data folder, every phase once, and the record of the results."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import shutil
import subprocess
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchbook.declare.experiment import limits
from benchbook.errors import BenchbookError, RequestError, TrialFailed, TrialInvalid, Unavailable, command
from benchbook.host import conditions, exhausted, facts, hardware
from benchbook.host.texts import shortened
from benchbook.measure.measurement import Measurement
from benchbook.measure.sampler import OVERHEAD, Telemetry
from benchbook.plan.plan import PlannedTrial
from benchbook.process import network, secret, strays
from benchbook.process.launch import Program
from benchbook.process.output import TooMuchOutput
from benchbook.process.sandbox import launching
from benchbook.record import trial_record
from benchbook.record.folder import FULL_OR_FORBIDDEN
from benchbook.run import long_logs, others, watchdog
from benchbook.run.confined import Confined
from benchbook.run.context import Context, program_record
from benchbook.run.findings import EventFile, Findings, Timeline, require_kept
from benchbook.run.given import require_as_it_is
from benchbook.run.scratch import neighbours
from benchbook.run.steps import Steps, StorageWork, confirmed, trial_state, unread
from benchbook.run.watchdog import Hang, StorageWatch, with_cause
from benchbook.storage.driver import Facts
from benchbook.storage.local import Storage
from benchbook.systems.driver import Driver, Place, SeveralDatabases, databases
from benchbook.systems.server import Server

LEAST_FREE_BYTES = 1 << 20
"""With less free space on the disk, the disk caused the failure: the run stops and can be resumed."""


class TrialRun:
    """Carries out one planned trial and creates its record."""

    def __init__(self, context: Context, planned: PlannedTrial, folder: Path) -> None:
        self.context = context
        self.planned = planned
        self.folder = folder
        self.system = context.system(str(planned.levels["system"]))
        _, self.digest = context.dataset(planned)
        self.timeline = Timeline(self._phase_begins, self._phase_ends)
        self.findings = Findings()
        self.version: str | None = None
        self.config_digest: str | None = None
        self.telemetry: Telemetry | None = None
        self.storage_facts: Facts = {}
        found = context.programs[planned.program]
        self.running = isinstance(found, Program) and found.url is not None
        """True if the server is already running, so that much of it cannot be measured."""
        self.contained = isinstance(found, Program) and found.image is not None
        """True if the engine's daemon starts the server, so that it is no descendant of this process."""
        self.limits = limits(planned.levels)
        self.confined: Confined | None = None
        self.storage_work: StorageWork | None = None
        self.driver: Driver | None = None
        self.apart: Path | None = None
        """The folder of the data if its storage has another disk than the results."""

    def run(self) -> trial_record.Trial:
        """Carry out the trial and return its record; raise on an interruption and for an invalid request."""
        try:
            record = self._run()
        finally:
            long_logs.cut(self.folder / "logs")
            redacted = secret.redact_files(self.folder)
        if redacted:
            self.context.observer.note(
                f"{self.system.name} wrote a password; removed it from {', '.join(one.name for one in redacted)}"
            )
        cleaned: trial_record.Trial = secret.redact(record)
        secret.forget()
        return cleaned

    def _run(self) -> trial_record.Trial:
        started_at = datetime.now(UTC)
        load_before = {**conditions.current_load(), "settings": facts.settings()}
        began, used = conditions.mark(), others.used()
        status: trial_record.Status = "ok"
        reason: str | None = None
        try:
            program = self.context.program(self.planned.program)
            self._work(program)
            self.findings.require_whole()
        except Unavailable as error:
            status, reason = "skipped", str(error)
        except TrialInvalid as error:
            status, reason = "invalid", str(error)
        except TrialFailed as error:
            if shutil.disk_usage(self.context.scratch).free < LEAST_FREE_BYTES:
                raise OSError(
                    errno.ENOSPC, "no space is left for the data of a trial", str(self.context.scratch)
                ) from error
            self._require_installation()
            status, reason = "failed", str(error)
        except (subprocess.TimeoutExpired, TooMuchOutput) as error:
            self._require_installation()
            status, reason = "failed", f"A program of {self.system.name} did not end as it must: {error}."
        except BenchbookError:
            raise  # the request or the results folder is at fault: every later trial would fail too
        except Exception as error:
            if isinstance(error, OSError) and error.errno in FULL_OR_FORBIDDEN:
                raise  # the harness writes only into the results folder
            self._require_installation()
            status, reason = "failed", self._defect(error)
        self._note_others(used)
        jumped = conditions.jumped(began)
        if jumped and status == "ok":
            status, reason = "invalid", jumped
        return record_of(self, status, reason, started_at, load_before)

    def _note_others(self, begin: others.Used | None) -> None:
        """Record the share of the processor time that others used; what a running server used is unknown."""
        if self.running or self.telemetry is None:
            return
        phases = self.telemetry.summary().values() if self.contained else ()
        found = others.share(begin, others.used(), sum(one["server_cpu_seconds"] or 0.0 for one in phases))
        if found is not None:
            self.findings.measurements.append(Measurement("trial", "other_cpu_fraction", found))

    def _defect(self, error: Exception) -> str:
        """Return why an unforeseen error ended the trial; raise RequestError if the machine lacks something.

        A removed folder, or a defect of Benchbook, must not stop other trials; the traceback stays with the trial.
        """
        if self.context.folder.is_dir() and not self.folder.is_dir():
            return f"{self.folder} was removed while the trial ran."
        lacked = exhausted.explain(error, self.context.folder)
        if lacked and not watchdog.broken_storage(error, self.apart):
            raise RequestError(*lacked) from error  # every later trial would fail too
        (self.folder / "harness-error.log").write_text(
            traceback.format_exc(), encoding="utf-8", errors="backslashreplace"
        )
        misread = self.driver.misread(error) if isinstance(self.driver, Server) else None
        why = lacked[0].removesuffix(".") if lacked else misread or f"the harness itself failed: {error!r}"
        return f"{why}; see harness-error.log"

    def _require_installation(self) -> None:
        """Raise RequestError if a program of Benchbook was removed: every later trial would fail too."""
        removed = [one for one in (self.context.benchload, Path(sys.executable)) if not one.exists()]
        if removed:
            again = command(f"resume {self.context.plan.run_id}")
            raise RequestError(
                f"{removed[0]} was removed while the run used it.",
                f"{command('list')} or any other command installs it again. Then continue with: {again}",
            )

    def lost(self, status: trial_record.Status, reason: str) -> trial_record.Trial:
        """Return the record of a trial that did not finish where it was carried out."""
        return record_of(self, status, reason, datetime.now(UTC), {})

    def _work(self, program: Program) -> None:
        """Carry out the trial on a data folder of its storage, and unmount that afterwards."""
        from benchbook.storage.driver import StoragePlace
        from benchbook.storage.find import storage

        declared = self.context.catalogue.storage(str(self.planned.levels["storage"]))
        require_as_it_is(program, self.system, declared, self.planned.levels)
        place = StoragePlace(
            folder=self.context.scratch / f"{self.planned.index:04d}",
            programs={name: self.context.program(name) for name in declared.programs},
            logs=_made(self.folder / "logs"),
            processes=self.context.results / "processes",
            mounts=self.context.results / "mounts",
        )
        held = storage(declared, place, self.planned.levels)
        try:
            data = held.mount()
            self.apart = data if watchdog.apart(data, self.context.folder) else None
            self.storage_facts = held.facts()
            self.storage_work = StorageWork(held)
            self.confined = Confined(
                self.limits, self.planned.index, program,
                embedded=self.system.embedded, writes=held.throttled(),
            )  # fmt: skip
            machines = self.context.machines
            self.findings.client_cores = machines.cores() if machines else self.confined.client_cores()
            for machine in machines.machines if machines else ():
                machine.synchronise()
            with self.confined.client():
                self._run_on(data, self.confined.program, held, self.confined)
        finally:
            if self.confined is not None:
                self.confined.measure(self.findings)
                self.confined.remove()
            if self.telemetry is not None:
                self.findings.telemetry(self.telemetry.summary(), server=program.url is None)
            if self.storage_work is not None:
                self.findings.measurements += self.storage_work.measurements()
            held.unmount()

    def _run_on(self, data: Path, program: Program, storage: Storage, confined: Confined) -> None:
        """Start the system on a data folder, carry out the phases, stop it."""
        config, logs = _made(self.folder / "config"), _made(self.folder / "logs")
        registry, arm = self.context.results / "processes", str(self.planned.levels["arm"])
        with launching(program, (data, config, logs), registry) as launch:
            place = Place(
                program=program,
                arm=arm,
                settings=self.system.arms[arm].settings_at(self.planned.levels),
                data=data,
                config=config,
                logs=logs,
                host=(launch and launch.host) or self.context.host,
                databases=self._databases(),
                limits=self.limits,
                processes=registry,
                launch=launch,
            )
            self._drive(place, storage, confined)

    def _drive(self, place: Place, storage: Storage, confined: Confined) -> None:
        """Drive the system through all phases."""
        from benchbook.systems.driver import driver as system_driver

        driver = self.driver = system_driver(self.system.driver, place, self.context.plan.experiment)
        if len(place.databases) > 1 and not isinstance(driver, SeveralDatabases):
            raise TrialFailed(
                f"{self.system.name} supports one client, but clients is {len(place.databases)}.",
                "Set clients = 1, or leave this system out.",
            )
        client = driver.client(self.context.benchload)
        hang = Hang(lambda: [*driver.processes(), *client.processes()])
        events = EventFile(self.folder, self.context.observer.rate, self.findings.keep_errors, hang)
        where = str(self.planned.levels["storage"]), place.data, self.context.scratch
        watch = StorageWatch(storage, client, driver.processes)
        with contextlib.closing(events), self._telemetry(driver, client.processes, place), hang.watched():
            try:
                with watch.watched(), watchdog.disk_full_as_failure(*where):
                    self._start(driver, place, confined)
                    Steps(
                        context=self.context,
                        planned=self.planned,
                        timeline=self.timeline,
                        findings=self.findings,
                        driver=driver,
                        client=client,
                        events=events,
                        folder=self.folder,
                        storage=storage,
                        data=place.data,
                        restart=lambda: self._restart(driver, place.program.url, confined),
                    ).all()
            except TrialFailed as error:
                message = with_cause(watch.failure, error, driver.ready)
                raise TrialFailed(
                    message + confined.killed() + hang.note() + watchdog.disk_full_note(*where)
                ) from None
            finally:
                client.cancel()
                with self.timeline.phase("stop"):
                    driver.stop()
                    strays.end(strays.unmarked)
            storage.check()  # what the system wrote while stopping is on the storage too
            events.require_kept()

    def _databases(self) -> tuple[str, ...]:
        """Return the names of the databases that the clients of this trial load into."""
        options = [phase.replaced(self.planned.levels) for phase in self.context.plan.phases]
        return databases(max(1, *(one.copies() for one in options)))

    def _start(self, driver: Driver, place: Place, confined: Confined) -> None:
        # In a private network every address belongs to the trial alone.
        in_private = place.host != self.context.host
        with self.timeline.phase("start"):
            with confined.server():
                texts = driver.configure()
            self.config_digest = _digest(json.dumps(texts, sort_keys=True))
            self._restart(driver, place.program.url, confined)
            self.version = driver.version()
        confined.check(self.findings, driver.processes)
        open_to_others = [] if in_private else network.beyond_loopback(driver.processes(), self.context.host)
        self.findings.note_listening(len(open_to_others))
        network.require_reason(self.system, open_to_others)
        if not self.system.accepts(self.version):
            raise TrialInvalid(
                f"{self.system.name} is pinned to {self.system.version}, "
                f"but the running system reports {self.version}."
            )

    def _restart(self, driver: Driver, url: str | None, confined: Confined) -> None:
        """Start a configured system, for the first time or again, under its limits."""
        with confined.server():
            driver.start()
        watchdog.wait_ready(driver, self.system.name, url)
        if url is None:
            network.require_measured(self.system.name, str(getattr(driver, "url", "")), driver.processes)

    @contextlib.contextmanager
    def _telemetry(self, driver: Driver, client_pids: Any, place: Place) -> Iterator[None]:
        """Sample the trial into ``telemetry.jsonl``."""
        with (self.folder / "telemetry.jsonl").open("w", encoding="utf-8") as file:
            self.telemetry = Telemetry(
                driver.processes,
                client_pids,
                place.data,
                lambda samples: file.writelines(
                    json.dumps(sample, separators=(",", ":")) + "\n" for sample in samples
                ),
                server_usage=place.launch.usage if place.launch else dict,
            )
            with self.telemetry:
                yield
            require_kept(file)

    def _phase_begins(self, name: str) -> None:
        if self.telemetry is not None:
            self.telemetry.phase(name)
        self.context.observer.phase(name)
        if self.storage_work is not None:
            self.storage_work.begins(name)

    def _phase_ends(self) -> None:
        if self.storage_work is not None:
            self.storage_work.ends()
        if self.telemetry is not None:
            self.telemetry.phase(OVERHEAD)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def record_of(
    trial: TrialRun,
    status: trial_record.Status,
    reason: str | None,
    started_at: datetime,
    load_before: dict[str, Any],
) -> trial_record.Trial:
    """Return the record of a trial that ends now, with the metrics that the harness measures for every trial."""
    planned, plan, found, timeline = trial.planned, trial.context.plan, trial.findings, trial.timeline
    start_seconds = timeline.seconds_of("start")
    duration = timeline.seconds()
    overhead = timeline.overhead_seconds()
    if trial.running:
        found.unmeasured["start_seconds"] = "the server was not started by this harness"
    elif status != "skipped":
        found.measurements.append(Measurement("trial", "start_seconds", start_seconds))
    if status != "skipped":
        found.measurements.append(Measurement("trial", "overhead_fraction", overhead / duration))
    found.leave_out_impossible()
    found.measurements += unread(found.measurements)
    return {
        "schema": trial_record.SCHEMA,
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
        "reason": None if reason is None else shortened(reason),
        "started_at": started_at.isoformat(timespec="milliseconds"),
        "ended_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "duration_seconds": duration,
        "start_seconds": None if trial.running else start_seconds,
        "overhead_seconds": overhead,
        "version_reported": trial.version,
        "program": program_record(trial.context.programs[planned.program]),
        "config_digest": None if trial.running else trial.config_digest,
        "storage_facts": trial.storage_facts,
        "dataset_digest": f"sha256:{trial.digest['sha256']}",
        "queries_digest": trial.context.queries_digest(),
        "cache_state": trial_state(confirmed(found.cache_states, found.measurements), found.asked_cold),
        "data_to_memory": float(found.data_bytes or trial.digest["bytes"])
        / min(hardware.machine_bytes(), trial.limits.memory_bytes or math.inf),
        "confinement": trial.confined.as_dict() if trial.confined else None,
        "load_before": {**load_before, "other_runs": len(neighbours())},
        "phases": [entry.as_dict() for entry in timeline.phases],
        "measurements": [
            trial_record.Measurement(
                phase=one.phase, metric=one.metric, value=one.value, unit=one.unit, direction=one.direction
            )
            for one in found.measurements
        ],
        "errors": found.errors,
        "unmeasured": found.unmeasured,
        "checks": found.checks,
        "telemetry_cost_seconds": trial.telemetry.cost_seconds if trial.telemetry else 0.0,
    }
