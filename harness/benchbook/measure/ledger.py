"""Sum the resource usage of process trees whose processes come and go, without losing or doubling any.

While a process lives, the ledger reads its counters. When it has ended, its usage is part of the parent that waited
for it; if no living parent counts it, the ledger keeps the last reading. The harness waits for the roots of the trees:
getrusage gives the final usage of its children, including those too short to sample, which count as the client's.
A sum therefore never decreases. The tables at the end are the metrics of telemetry's samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchbook.measure.usage import ZERO, Process, Usage, children, read, reset_peak


@dataclass
class TrackedProcess:
    """A process that belongs to one or both trees, from the first sample until it has ended."""

    last: Process
    """The last reading."""
    base: Usage
    """Usage before the trial, which does not count."""
    trees: set[str]
    peak_base: int
    """The kernel's peak RSS when the phase began."""
    rss_most: int
    """The largest RSS sampled in this phase."""

    def update(self, now: Process) -> None:
        """Store a new reading; keep the last bytes if they are no longer readable."""
        if self.last.bytes_known and not now.bytes_known:
            usage = now.usage._replace(read=self.last.usage.read, written=self.last.usage.written)
            now = now._replace(usage=usage, bytes_known=True)
        self.last = now
        self.rss_most = max(self.rss_most, now.rss)

    @property
    def whole(self) -> Usage:
        """Usage of the process and of children that it waited for, since it started."""
        return self.last.usage.plus(self.last.reaped)

    @property
    def total(self) -> Usage:
        """Usage since the trial began."""
        return self.whole.minus(self.base)

    @property
    def inherited(self) -> Usage:
        """Usage that grows when the process waits for a child. The kernel adds a child's bytes to the parent's."""
        return self.last.reaped._replace(read=self.last.usage.read, written=self.last.usage.written)

    @property
    def peak(self) -> int:
        """Peak RSS in this phase: the kernel's if it rose, else the largest sample."""
        return self.last.rss_peak if self.last.rss_peak > self.peak_base else self.rss_most


@dataclass
class Tree:
    """The sums of one process tree."""

    gone: Usage = ZERO
    """Usage of ended processes that no living parent counts."""
    bytes_known: bool = True
    """True if the bytes of all processes were readable."""
    usage: Usage = ZERO
    """Cumulative; never decreases."""
    living: list[TrackedProcess] = field(default_factory=list)


@dataclass(frozen=True)
class Provisional:
    """Usage kept for an ended process, which its parent may count one sample later."""

    parent: int
    trees: frozenset[str]
    usage: Usage


class Ledger:
    """Tracks the processes of the trees ``server`` and ``client``, which may be the same processes."""

    def __init__(self, harness: int, begin: int) -> None:
        """``harness`` is the harness's pid; ``begin`` the start of the trial in whole ticks after boot."""
        self._harness = harness
        self._begin = begin
        self._tracked: dict[int, TrackedProcess] = {}
        self._provisional: list[Provisional] = []
        self._waited: Usage | None = None
        self._shared = False
        self.trees = {"server": Tree(), "client": Tree()}

    def update(self, given: Mapping[str, Iterable[int]], waited: Usage) -> None:
        """Read all processes.

        ``given`` holds the root pids of each tree; the ledger finds their children. ``waited`` is the usage of
        children that the harness waited for, from a getrusage just before this call.
        """
        found = {tree: set(pids) for tree, pids in given.items()}
        self._shared = self._shared or (found["server"] == found["client"] != set())
        before = {pid: process.inherited for pid, process in self._tracked.items()}
        ended = self._read(found)
        grown = {
            pid: process.inherited.minus(before[pid])
            for pid, process in self._tracked.items()
            if pid in before
        }
        grown[self._harness] = waited.minus(self._waited or waited)
        self._waited = waited
        whole = dict(grown)
        heirs = self._settle(grown) | self._keep_ended(ended, grown, whole)
        # The rest is usage of the harness's children that were too short to sample, or of the last moments of others.
        for name in heirs or ({"server", "client"} if self._shared else {"client"}):
            self.trees[name].gone = self.trees[name].gone.plus(grown[self._harness])
        for name, tree in self.trees.items():
            tree.living = [process for process in self._tracked.values() if name in process.trees]
            usage = tree.gone
            for process in tree.living:
                usage = usage.plus(process.total)
            tree.usage = Usage(*map(max, usage, tree.usage))

    def begin_phase(self) -> None:
        """Start to measure peaks from now on."""
        for pid, process in self._tracked.items():
            reset_peak(pid)
            now = self._reading(pid) or process.last
            process.peak_base, process.rss_most = now.rss_peak, now.rss

    def _read(self, found: dict[str, set[int]]) -> list[TrackedProcess]:
        """Read tracked and new processes, parents first; return those that have ended."""
        ended = []
        for pid, process in list(self._tracked.items()):
            now = self._reading(pid)
            if now is None or now.started != process.last.started:
                ended.append(self._tracked.pop(pid))
            else:
                process.update(now)
        for tree, pids in found.items():
            others = set().union(*(other for name, other in found.items() if name != tree)) - pids
            self._descend(
                tree, [*pids, *(pid for pid, f in self._tracked.items() if tree in f.trees)], others
            )
        return ended

    def _descend(self, tree: str, pids: list[int], others: set[int]) -> None:
        seen: set[int] = set()
        while pids:
            pid = pids.pop(0)
            if pid in seen or pid in others:
                continue
            seen.add(pid)
            if pid not in self._tracked and not self._track(pid):
                continue
            process = self._tracked[pid]
            process.trees.add(tree)
            self.trees[tree].bytes_known &= process.last.bytes_known or process.last.rss == 0
            if pid != self._harness:  # not all children of the harness belong to this tree
                pids.extend(children(pid))

    def _track(self, pid: int) -> bool:
        now = self._reading(pid)
        if now is None:
            return False
        old = now.started < self._begin
        base = now.usage.plus(now.reaped) if old else ZERO
        self._tracked[pid] = TrackedProcess(now, base, set(), now.rss_peak if old else 0, now.rss)
        return True

    def _reading(self, pid: int) -> Process | None:
        now = read(pid)
        # update() adds what the harness waited for; a tree that contains the harness must not count it too.
        return now._replace(reaped=ZERO) if now and pid == self._harness else now

    def _settle(self, grown: dict[int, Usage]) -> set[str]:
        """Subtract provisional usage that a parent counts by now; return the trees it belongs to."""
        heirs: set[str] = set()
        for provisional in self._provisional:
            back = grown.get(provisional.parent, ZERO).minimum(provisional.usage)
            if back == ZERO:
                continue
            grown[provisional.parent] = grown[provisional.parent].minus(back)
            heirs |= provisional.trees if provisional.parent == self._harness else set()
            for name in provisional.trees if provisional.parent != self._harness else ():
                self.trees[name].gone = self.trees[name].gone.minus(back)
        self._provisional = []
        return heirs

    def _keep_ended(
        self, ended: list[TrackedProcess], grown: dict[int, Usage], whole: dict[int, Usage]
    ) -> set[str]:
        """Keep usage of ended processes that no living parent counts; return the trees of the harness's children.

        ``grown`` is the growth of each parent that is not yet attributed to an ended child, ``whole`` all of it.
        /proc does not show for which of several ended children a parent waited. Attributing growth to them in turn
        gives the right sum; only a child that used more than the whole growth was certainly not waited for.
        """
        heirs: set[str] = set()
        parents = {dead.last.pid: dead.last.parent for dead in ended}
        for dead in ended:
            parent = dead.last.parent
            while parent in parents and parent not in self._tracked:
                parent = parents[parent]
            heir = self._tracked.get(parent)
            counted = ZERO
            if parent == self._harness or (heir is not None and dead.trees <= heir.trees):
                if all(
                    more >= used
                    for more, used in zip(whole.get(parent, ZERO)[:2], dead.whole[:2], strict=True)
                ):
                    counted = grown.get(parent, ZERO).minimum(dead.whole)
                grown[parent] = grown.get(parent, ZERO).minus(counted)
                self._provisional.append(
                    Provisional(parent, frozenset(dead.trees), dead.whole.minus(counted))
                )
            if parent == self._harness:
                heirs |= dead.trees
                counted = ZERO  # no tree contains what the harness waited for: keep all of it
            elif heir is not None:  # the parent now also counts usage from before the trial
                heir.base = heir.base.plus(dead.base.minimum(counted))
            kept = dead.whole.minus(counted).minus(dead.base.minus(counted))
            for name in dead.trees:
                self.trees[name].gone = self.trees[name].gone.plus(kept)
        return heirs


Sample = dict[str, Any]
"""``{"phase", "seconds", "scope", "metric", "value", "unit"}``, one line of telemetry.jsonl."""

PROCESS_UNITS: Mapping[str, str] = {
    "cpu_user_seconds": "s",
    "cpu_system_seconds": "s",
    "read_bytes": "B",
    "write_bytes": "B",
    "rss_bytes": "B",
    "rss_peak_bytes": "B",
    "pss_bytes": "B",
    "memory_bytes": "B",
    "threads": "1",
    "open_files": "1",
    "processes": "1",
}
"""Metrics of the scopes server and client, each summed over a process tree.

The first four are cumulative over the trial and include ended processes; the others describe the living ones.
``rss_peak_bytes`` is the sum of each process's peak since the phase began, so at least the tree's true peak. RSS counts
shared pages once for each process; PSS divides them among processes, but is slow to read and so sampled rarely.
``memory_bytes`` is the memory of a container's control group, including its share of the page cache.
"""

MACHINE_UNITS: Mapping[str, str] = {
    "cpu_busy_seconds": "s",
    "cpu_idle_seconds": "s",
    "cpu_iowait_seconds": "s",
    "cpu_steal_seconds": "s",
    "psi_cpu_some_seconds": "s",
    "psi_io_some_seconds": "s",
    "psi_io_full_seconds": "s",
    "psi_memory_some_seconds": "s",
    "psi_memory_full_seconds": "s",
    "memory_free_bytes": "B",
    "memory_available_bytes": "B",
    "device_reads": "1",
    "device_read_bytes": "B",
    "device_writes": "1",
    "device_write_bytes": "B",
    "device_busy_seconds": "s",
    "device_flushes": "1",
}
"""Metrics of the scope machine, from the kernel: cumulative since boot, except for the two of memory. CPU seconds are
core-seconds of all cores. The device is the one that holds the data folder."""

HARNESS_UNITS: Mapping[str, str] = {"cpu_user_seconds": "s", "cpu_system_seconds": "s"}
"""Metrics of the scope harness: the Benchbook process since it started, including the sampling thread."""

UNITS: Mapping[str, Mapping[str, str]] = {
    "server": PROCESS_UNITS,
    "client": PROCESS_UNITS,
    "machine": MACHINE_UNITS,
    "harness": HARNESS_UNITS,
}


SUMMARY = (
    "server_cpu_seconds", "client_cpu_seconds", "harness_cpu_seconds", "server_rss_peak_bytes",
    "server_pss_peak_bytes", "client_rss_peak_bytes", "server_memory_peak_bytes", "server_read_bytes",
    "server_write_bytes", "device_read_bytes", "device_write_bytes", "device_writes", "device_flushes",
    "device_busy_fraction", "machine_steal_fraction", "psi_cpu_some_fraction", "psi_io_some_fraction",
    "psi_memory_some_fraction",
)  # fmt: skip
"""The metrics that summarise a phase. ``machine_steal_fraction`` is a share of the time of all cores.
The other fractions are shares of the phase's wall time: in which the device of the data folder had
requests, and (PSI) in which at least one process waited for that resource."""
