"""Sample the resource usage of server, client, machine and harness during a trial, and sum it by phase."""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from benchbook.measure import usage
from benchbook.measure.ledger import SUMMARY, UNITS, Ledger, Sample, Tree
from benchbook.measure.usage import TICKS, Usage, pss

Reading = dict[tuple[str, str], float]
"""(scope, metric) → value at one moment."""

Summary = dict[str, float | None]
"""Metric (see ``ledger.SUMMARY``) → value; None if it could not be measured."""

SUMS = {
    "server_cpu_seconds": (("server", "cpu_user_seconds"), ("server", "cpu_system_seconds")),
    "client_cpu_seconds": (("client", "cpu_user_seconds"), ("client", "cpu_system_seconds")),
    "harness_cpu_seconds": (("harness", "cpu_user_seconds"), ("harness", "cpu_system_seconds")),
    "server_read_bytes": (("server", "read_bytes"),),
    "server_write_bytes": (("server", "write_bytes"),),
    "device_read_bytes": (("machine", "device_read_bytes"),),
    "device_write_bytes": (("machine", "device_write_bytes"),),
    "device_writes": (("machine", "device_writes"),),
    "device_flushes": (("machine", "device_flushes"),),
}
PEAKS = {
    "server_rss_peak_bytes": ("server", "rss_peak_bytes"),
    "server_pss_peak_bytes": ("server", "pss_bytes"),
    "client_rss_peak_bytes": ("client", "rss_peak_bytes"),
    "server_memory_peak_bytes": ("server", "memory_bytes"),
}
WALL_SHARES = {
    "device_busy_fraction": ("machine", "device_busy_seconds"),
    **{
        f"psi_{name}_some_fraction": ("machine", f"psi_{name}_some_seconds")
        for name in ("cpu", "io", "memory")
    },
}
"""Shares of the wall time of a phase."""
STEAL = ("machine", "cpu_steal_seconds")
CORE_TIME = tuple(("machine", f"cpu_{kind}_seconds") for kind in ("busy", "idle", "iowait", "steal"))


@dataclass
class Phase:
    """Growth of counters during a phase; a phase that begins again adds to the same sums."""

    seconds: float = 0.0
    grown: Reading = field(default_factory=dict)
    most: Reading = field(default_factory=dict)

    def add(
        self, seconds: float, begin: Mapping[tuple[str, str], float], end: Reading, most: Reading
    ) -> None:
        """Add a part of this phase: its length, the readings at both ends, the largest values in between."""
        self.seconds += seconds
        for key, value in end.items():
            if key in begin:
                self.grown[key] = self.grown.get(key, 0.0) + value - begin[key]
        for key, value in most.items():
            self.most[key] = max(value, self.most.get(key, value))

    def summary(self) -> Summary:
        """Return the phase's numbers under the names of ``ledger.SUMMARY``, in their order."""
        found: Summary = {name: self._sum(keys) for name, keys in SUMS.items()}
        found |= {name: self.most.get(key) for name, key in PEAKS.items()}
        found |= {name: _share(self.grown.get(key), self.seconds) for name, key in WALL_SHARES.items()}
        found["machine_steal_fraction"] = _share(self.grown.get(STEAL), self._sum(CORE_TIME))
        return {name: found[name] for name in SUMMARY}

    def _sum(self, keys: tuple[tuple[str, str], ...]) -> float | None:
        if not all(key in self.grown for key in keys):
            return None
        return sum(self.grown[key] for key in keys)


def _share(part: float | None, whole: float | None) -> float | None:
    """Return part / whole; None if no time has passed at the clock's resolution."""
    return None if part is None or not whole else min(1.0, part / whole)


OVERHEAD = "overhead"
"""The phase before the first one and between timed phases: the harness's own time."""

FIRST_WAIT_SECONDS = 0.125
"""Wait after the start of a phase; it doubles up to the interval, so that short phases have samples too."""

SINCE_BOOT = time.CLOCK_BOOTTIME if sys.platform == "linux" else time.CLOCK_MONOTONIC
"""The clock of process start times in /proc; other platforms have no /proc."""

PSS_EVERY_SECONDS = 10.0
PSS_SLOW_SECONDS = 0.005
"""If reading a process's PSS takes longer, the sampler does not read it again."""


@dataclass(frozen=True)
class Cost:
    """Resources that the sampling used."""

    samples: int
    cpu_seconds: float
    """Processor time of the sampling, including kernel and sink."""
    longest_seconds: float
    """Wall time of the longest sample."""


class Telemetry:
    """Sample a trial for the length of a ``with`` block; ``phase`` starts a phase, which lasts until the next.

    Server and client are process trees. For an embedded system, pass equal pid functions: both scopes then show the
    whole process. A command that the harness runs and waits for counts as the client's.

    ``sink`` gets the samples of each moment, from the sampling thread or from within ``phase``, never concurrently.
    Counters are cumulative. At a boundary ``sink`` gets the same reading twice: as the last sample of one phase and the
    first of the next. If ``sink`` fails, it gets no more samples, and the next ``phase`` or the end raises its error.
    """

    def __init__(
        self,
        server_pids: Callable[[], list[int]],
        client_pids: Callable[[], list[int]],
        data_folder: Path,
        sink: Callable[[list[Sample]], None],
        interval_seconds: float = 1.0,
        server_usage: Callable[[], Mapping[str, float]] = dict,
    ) -> None:
        """Prepare; each sample calls the two functions, which return the root processes of the trees.

        Counters from ``server_usage`` (of a control group) replace those of the server's processes.
        """
        self._pids = {"server": server_pids, "client": client_pids}
        self._server_usage = server_usage
        self._device = usage.device(data_folder)
        self._sink = sink
        self._interval = interval_seconds
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._work, name="telemetry", daemon=True)
        self._ending = False
        self._failure: Exception | None = None
        self._name = OVERHEAD
        self._phases: dict[str, Phase] = {}
        self._begin: tuple[float, Reading] = (0.0, {})
        self._most: Reading = {}
        self._wait = FIRST_WAIT_SECONDS
        self._due = 0.0
        self._pss_due = 0.0
        self._pss_slow: set[int] = set()
        self._cost = Cost(0, 0.0, 0.0)

    def __enter__(self) -> Self:
        self._origin = time.monotonic()
        self._ledger = Ledger(os.getpid(), int(time.clock_gettime(SINCE_BOOT) * TICKS))
        self._boundary(OVERHEAD)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending = True
        self._wake.set()
        self._thread.join()
        self._boundary(None)
        if kind is None:
            self._raise_failure()

    def phase(self, name: str) -> float:
        """End the current phase and begin ``name``; return the seconds since the start of the trial."""
        self._raise_failure()
        seconds = self._boundary(name)
        self._wake.set()
        return seconds

    def summary(self) -> dict[str, Summary]:
        """Return the numbers of each phase, in the order the phases began; complete after the end."""
        with self._lock:
            return {name: phase.summary() for name, phase in self._phases.items()}

    def cost(self) -> Cost:
        """Return the resources that the sampling has used so far."""
        return self._cost

    @property
    def cost_seconds(self) -> float:
        """Processor time of the sampling so far, in seconds."""
        return self._cost.cpu_seconds

    def _work(self) -> None:
        while not self._ending:
            if self._wake.wait(max(0.0, self._due - time.monotonic())):
                self._wake.clear()  # a phase began: restart the wait
                continue
            with self._lock:
                if self._ending:
                    return
                try:
                    self._sample()
                except Exception as error:  # reported by the next phase(); a silent end would hide a gap
                    self._failure = error
                    return

    def _boundary(self, name: str | None) -> float:
        """Take a reading that ends the current phase and begins ``name``; None ends the last one."""
        with self._lock:
            self._pss_due = 0.0
            seconds, reading = self._sample(hand_over=self._cost.samples > 0)
            if self._cost.samples > 1:
                begun, begin = self._begin
                self._phases.setdefault(self._name, Phase()).add(seconds - begun, begin, reading, self._most)
            if name is not None:
                begun_cpu = time.thread_time()
                self._name, self._begin, self._most = name, (seconds, reading), {}
                self._ledger.begin_phase()
                self._wait = FIRST_WAIT_SECONDS
                self._due = time.monotonic() + self._wait
                self._hand_over(seconds, reading)
                self._charge(0, time.thread_time() - begun_cpu, 0.0)
            return seconds

    def _sample(self, hand_over: bool = True) -> tuple[float, Reading]:
        begun, begun_cpu = time.monotonic(), time.thread_time()
        reading = self._read()
        seconds = begun - self._origin
        for key in PEAKS.values():
            if key in reading:
                self._most[key] = max(reading[key], self._most.get(key, 0.0))
        if hand_over:
            self._hand_over(seconds, reading)
        self._due = begun + self._wait
        self._wait = min(self._interval, 2 * self._wait)
        self._charge(1, time.thread_time() - begun_cpu, time.monotonic() - begun)
        return seconds, reading

    def _read(self) -> Reading:
        children, own = resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrusage(resource.RUSAGE_SELF)
        self._ledger.update(
            {name: _pids_or_none(pids) for name, pids in self._pids.items()},
            Usage(children.ru_utime, children.ru_stime),
        )
        reading: Reading = {
            ("harness", "cpu_user_seconds"): own.ru_utime,
            ("harness", "cpu_system_seconds"): own.ru_stime,
        }
        for name, tree in self._ledger.trees.items():
            reading |= {(name, metric): value for metric, value in _tree(tree).items()}
        reading |= {("server", metric): value for metric, value in self._server_usage().items()}
        reading |= {("machine", metric): value for metric, value in usage.counters(self._device).items()}
        if time.monotonic() >= self._pss_due:
            self._pss_due = time.monotonic() + PSS_EVERY_SECONDS
            reading |= self._pss()
        return reading

    def _pss(self) -> Reading:
        found: Reading = {}
        for name, tree in self._ledger.trees.items():
            sizes = [self._pss_of(process.last.pid) for process in tree.living]
            known = [size for size in sizes if size is not None]
            if known and len(known) == len(sizes):
                found[name, "pss_bytes"] = sum(known)
        return found

    def _pss_of(self, pid: int) -> int | None:
        if pid in self._pss_slow:
            return None
        begun = time.monotonic()
        size = pss(pid)
        if time.monotonic() - begun > PSS_SLOW_SECONDS:
            self._pss_slow.add(pid)
        return size

    def _hand_over(self, seconds: float, reading: Reading) -> None:
        if self._failure is not None:
            return
        samples = [
            {
                "phase": self._name,
                "seconds": round(seconds, 6),
                "scope": scope,
                "metric": metric,
                "value": value,
                "unit": UNITS[scope][metric],
            }
            for (scope, metric), value in reading.items()
        ]
        try:
            self._sink(samples)
        except Exception as error:  # any error; the next phase() raises it
            self._failure = error

    def _charge(self, samples: int, cpu_seconds: float, seconds: float) -> None:
        cost = self._cost
        self._cost = Cost(
            cost.samples + samples, cost.cpu_seconds + cpu_seconds, max(cost.longest_seconds, seconds)
        )

    def _raise_failure(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure


def _pids_or_none(pids: Callable[[], list[int]]) -> list[int]:
    """Return the pids, or none if the function fails because a server has just died."""
    try:
        return pids()
    except Exception:  # the trial reports a dead server; sampling continues
        return []


def _tree(tree: Tree) -> dict[str, float]:
    found: dict[str, float] = {
        "cpu_user_seconds": tree.usage.user,
        "cpu_system_seconds": tree.usage.system,
        "processes": len(tree.living),
    }
    if tree.bytes_known:
        found |= {"read_bytes": tree.usage.read, "write_bytes": tree.usage.written}
    if tree.living:
        now = [process.last for process in tree.living]
        found["rss_bytes"] = sum(process.rss for process in now)
        found["rss_peak_bytes"] = sum(process.peak for process in tree.living)
        found["threads"] = sum(process.threads for process in now)
        files = [process.open_files for process in now if process.open_files is not None]
        if len(files) == len(now):
            found["open_files"] = sum(files)
    return found
