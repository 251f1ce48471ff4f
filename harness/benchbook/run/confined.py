"""Place one trial's system under its limits and on its cores, and verify that the kernel enforces them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from benchbook.declare.experiment import Limits
from benchbook.errors import Unavailable
from benchbook.host.cgroup import cpu_cores, groups, memory_bytes
from benchbook.host.reading import Tree
from benchbook.measure.measurement import Measurement
from benchbook.process.confinement import Confinement, ControlGroup, confine, has_fixed_layout, separate_cores
from benchbook.process.launch import ContainerOptions, Program
from benchbook.run.findings import Findings

Cores = tuple[frozenset[int], frozenset[int]]
"""The cores of a server and those of its client."""


class Confined:
    """The limits of one trial: a control group for the server, cores for server and client."""

    def __init__(
        self, limits: Limits, index: int, program: Program, *, embedded: bool,
        writes: Mapping[str, int] | None = None,
    ) -> None:  # fmt: skip
        """Create the control group; raise Unavailable if a limit cannot be applied to this system.

        ``writes`` are the most writes per second to each device of the storage.
        """
        if writes and (program.url is not None or program.image is not None):
            raise Unavailable(
                f"The storage limits writes per second, which does not apply to {program.system}: Benchbook does not "
                "start its processes itself.",
                "Let Benchbook start it as a process, or use another storage.",
            )
        if limits.any and program.url is not None:
            raise Unavailable(
                f"{limits.describe()} does not apply to {program.system}, which already runs at {program.url}.",
                "Let Benchbook start it (leave out --system), or leave the limit out.",
            )
        if limits.around and (program.url is not None or program.isolated):
            raise Unavailable(
                f"core, address_layout and environment_bytes do not apply to {program.system}: Benchbook does not "
                "start its processes itself, or an image does.",
                "Let Benchbook start it as a process, or leave these factors out.",
            )
        if program.root is not None and (options := program.container):
            limits = replace(
                limits,
                memory_bytes=limits.memory_bytes or options.memory_bytes,
                cpu_cores=limits.cpu_cores or options.cpus,
            )
        self.limits = limits
        # The engine creates the control group of a container, with its limits.
        grouped = bool(writes) or (limits.any and program.image is None)
        self.group = ControlGroup(limits, index, writes=writes) if grouped else None
        self.cores, self.pinning_note = cores_of(limits, program, embedded=embedded)
        self.program = _in_container(program, limits, self.cores[0] if self.cores else None)
        """The program; if it runs in a container, the container's options include the limits."""

    @contextlib.contextmanager
    def client(self) -> Iterator[None]:
        """Start clients on their cores during the ``with`` block."""
        with confine(Confinement(cores=self.cores[1] if self.cores else None)):
            yield

    @contextlib.contextmanager
    def server(self) -> Iterator[None]:
        """Start the system's processes in the group and on their cores during the ``with`` block."""
        entries = tuple(self.group.entries()) if self.group else ()
        cores = self.cores[0] if self.cores else None
        fixed = self.limits.layout == "fixed"
        with confine(Confinement(entries, cores, fixed, self.limits.environment_bytes)):
            yield

    def client_cores(self) -> int:
        """Return the number of cores that the client may use."""
        return len(self.cores[1]) if self.cores else os.cpu_count() or 1

    def check(self, findings: Findings, processes: Callable[[], list[int]]) -> None:
        """Compare the limits that the kernel enforces, and the placement of the processes, with the request."""
        pids = set(processes())
        if self.group:
            found = self.group.in_force()
            self._check_limits(findings, found)
            if wanted := len(self.group.writes):
                limited = len(self.group.writes_in_force())
                findings.check("limits", "devices with a limit of writes in force", wanted, limited)
            findings.check(
                "limits",
                "processes of the system outside its control group",
                0,
                len(pids - self.group.members()),
            )
        elif self.limits.any:
            self._check_container(findings, min(pids, default=os.getpid()))
        if self.cores:
            outside = [pid for pid in pids if not _affinity(pid) <= self.cores[0]]
            findings.check("limits", "processes of the system outside its cores", 0, len(outside))
        if self.limits.layout == "fixed":
            moving = [pid for pid in pids if not has_fixed_layout(pid)]
            findings.check("limits", "processes of the system with a random address layout", 0, len(moving))

    def _check_limits(self, findings: Findings, found: Limits) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        if self.limits.memory_bytes is not None:
            wanted = self.limits.memory_bytes // page * page
            findings.check("limits", "memory limit in force, bytes", wanted, found.memory_bytes or 0)
        if self.limits.cpu_cores is not None:
            wanted = round(self.limits.cpu_cores * 1000)
            findings.check(
                "limits",
                "CPU limit in force, thousandths of a core",
                wanted,
                round((found.cpu_cores or 0) * 1000),
            )

    def _check_container(self, findings: Findings, pid: int) -> None:
        """Read back the limits of the control group that the engine created for a container's process."""
        tree = Tree()
        memory, cpu = next(groups(tree, "memory", pid)), next(groups(tree, "cpu", pid))
        self._check_limits(findings, Limits(memory_bytes(memory), cpu_cores(cpu)))

    def measure(self, findings: Findings) -> None:
        """Add the resources that the group used."""
        for metric, value in (self.group.usage() if self.group else {}).items():
            name = f"limited_{metric}"
            findings.measurements.append(Measurement("trial", name, value))

    def killed(self) -> str:
        """Return a note for the error message if the kernel killed processes at the memory limit, else an empty one."""
        kills = self.group.kills() if self.group else 0
        limit = f" Its memory limit of {self.limits.memory_bytes} bytes was reached"
        return f"{limit}: the kernel killed {kills} of its processes." if kills else ""

    def remove(self) -> None:
        """Remove the group and kill the processes in it."""
        if self.group:
            self.group.remove()

    def as_dict(self) -> dict[str, Any]:
        """Return the limits in the form that ``trial.json`` stores."""
        server, client = self.cores or (None, None)
        return {
            "memory_bytes": self.limits.memory_bytes,
            "cpu_cores": self.limits.cpu_cores,
            "server_cores": sorted(server) if server else None,
            "client_cores": sorted(client) if client else None,
            "pinning": self.pinning_note,
            "address_layout": self.limits.layout,
            "environment_bytes": self.limits.environment_bytes,
        }


def cores_of(limits: Limits, program: Program, *, embedded: bool) -> tuple[Cores | None, str]:
    """Return the cores of server and client, and why they are separate or shared."""
    if limits.core is not None:
        return _one_core(limits.core, program)
    if limits.pinning == "off":
        return None, "off: server and client share all cores"
    if embedded or program.url is not None or not hasattr(os, "sched_getaffinity"):
        why = (
            "one process is server and client" if embedded else "Benchbook does not choose the server's cores"
        )
        return None, f"none: {why}"
    usable = os.sched_getaffinity(0)
    cores = separate_cores(usable, 2) if limits.pinning == "always" else separate_cores(usable)
    if cores is None:
        return None, f"none: server and client share {len(usable)} cores, too few to separate them"
    return cores, "server and client on separate cores"


def _one_core(place: int, program: Program) -> tuple[Cores, str]:
    """Return the core of the system by its place, and all cores for its client."""
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if place >= len(usable):
        raise Unavailable(
            f"core {place} does not exist for {program.system}: {len(usable)} cores are usable, numbered from 0.",
            "Choose another core, or leave the factor out.",
        )
    return (frozenset([usable[place]]), frozenset(usable)), f"the system on core {usable[place]}"


def _in_container(program: Program, limits: Limits, cores: frozenset[int] | None) -> Program:
    if program.image is None:
        return program
    options = program.container or ContainerOptions()
    asked = replace(
        options,
        cpus=limits.cpu_cores or options.cpus,
        memory_bytes=limits.memory_bytes or options.memory_bytes,
        cores=",".join(map(str, sorted(cores))) if cores else options.cores,
    )
    return replace(program, container=asked)


def _affinity(pid: int) -> set[int]:
    try:
        return set(os.sched_getaffinity(pid))
    except OSError:
        return set()  # it has ended
