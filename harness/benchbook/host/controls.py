"""Check what disturbs measurements on this machine, with the command that fixes it (rule 13 of docs/methods.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchbook.host.facts import facts as read_facts
from benchbook.host.facts import virtual
from benchbook.host.reading import NOT_READABLE, Facts, fact, readable

State = Literal["controlled", "not controlled", "unknown"]

VIRTUAL = "cannot be fixed on a virtual machine: compare only runs of this machine"


@dataclass(frozen=True)
class Control:
    """A disturbance: its state, the value that was found, and the fix."""

    control: str
    state: State
    found: str
    wanted: str
    fix: str
    """The command that fixes it, or why nothing does; empty if nothing is to be done."""


def judge(name: str, found: Any, good: bool, wanted: str, fix: str, shown: str | None = None) -> Control:
    """Return the control for a fact; an unreadable fact is ``unknown``.

    ``good`` is ignored for an unreadable fact; ``shown`` replaces the fact where it reads better.
    """
    if not readable(found):
        return Control(name, "unknown", str(found or "not readable").removeprefix(NOT_READABLE), wanted, fix)
    text = shown if shown is not None else _words(found)
    return Control(name, "controlled" if good else "not controlled", text, wanted, "" if good else fix)


def _words(found: Any) -> str:
    if isinstance(found, list):
        return ", ".join(map(str, found)) or "none"
    if isinstance(found, bool):
        return "yes" if found else "no"
    return str(found)


CPUS = "/sys/devices/system/cpu"
GIGABYTE = 10**9

IDLE_LOAD_PER_CORE = 0.1
"""A one-minute load per core below this leaves the cores to the measurement."""
STEAL_ALLOWED = 0.005
"""Share of core time that a hypervisor may have taken since boot; above it, neighbours affect results."""
CORES_WANTED = 4
"""Two cores for a server and two for its client."""
DISK_WANTED_BYTES = 10 * GIGABYTE
FILES_WANTED = 65536
"""Requirement of Elasticsearch and Cassandra, which is more than any other system needs."""


def checks(results: Path, facts: Facts | None = None) -> list[Control]:
    """Return every control of this machine; never raise.

    By default the facts are read now (see ``facts.facts``).
    """
    found = facts if facts is not None else read_facts(results)
    return [control(found) for control in CONTROLS]


def governor(facts: Facts) -> Control:
    """Frequency governor: any except ``performance`` changes the clock with the load."""
    found = fact(facts, "cpu.governor")
    fix = f"echo performance | sudo tee {CPUS}/cpufreq/policy*/scaling_governor"
    return judge(
        "frequency governor", found, found == ["performance"], "performance", _hardware(facts, found, fix)
    )


def turbo(facts: Facts) -> Control:
    """Turbo: the clock depends on temperature and on how many cores are busy."""
    found = fact(facts, "cpu.turbo")
    intel = "intel" in str(fact(facts, "cpu.frequency_driver"))
    file, off = (f"{CPUS}/intel_pstate/no_turbo", 1) if intel else (f"{CPUS}/cpufreq/boost", 0)
    return judge(
        "turbo", found, found == "off", "off", _hardware(facts, found, f"echo {off} | sudo tee {file}")
    )


def smt(facts: Facts) -> Control:
    """Simultaneous multithreading: two threads share a core's units."""
    found = fact(facts, "cpu.smt")
    if virtual(facts) and found == "off":
        # A guest sees separate cores, whatever they are on the host.
        found = f"{NOT_READABLE}off in this virtual machine, unknown on its host"
    fix = VIRTUAL if virtual(facts) else f"echo off | sudo tee {CPUS}/smt/control"
    return judge("SMT", found, found == "off", "off", fix)


def aslr(facts: Facts) -> Control:
    """Address layout: if it is randomised, trials average over layouts instead of sharing one bias."""
    found = fact(facts, "kernel.aslr")
    wanted, fix = "2 (a new layout each trial)", "sudo sysctl -w kernel.randomize_va_space=2"
    return judge("address layout randomisation", found, found == 2, wanted, fix)


def huge_pages(facts: Facts) -> Control:
    """Transparent huge pages: with ``always`` the kernel compacts memory during measurements."""
    found = fact(facts, "memory.transparent_huge_pages")
    fix = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
    return judge("transparent huge pages", found, found in ("madvise", "never"), "madvise or never", fix)


def swap(facts: Facts) -> Control:
    """Swap: the kernel may move a server's memory to disk."""
    found = fact(facts, "swap.total_bytes")
    return judge(
        "swap", found, found == 0, "none", "sudo swapoff --all", "none" if found == 0 else _size(found)
    )


def load(facts: Facts) -> Control:
    """Load before the run: other programs that are running."""
    found, cores = fact(facts, "load.load1"), fact(facts, "cpu.usable_cores")
    most = IDLE_LOAD_PER_CORE * (cores if isinstance(cores, int) else 1)
    fix = "stop other programs: ps -eo pcpu,comm --sort=-pcpu | head"
    return judge("load before the run", found, _below(found, most), f"below {most:.1f}", fix)


def steal(facts: Facts) -> Control:
    """Steal: time in which the hypervisor ran another machine although a core of this one was ready."""
    found = fact(facts, "steal.fraction_since_boot")
    shown = f"{found:.2%} since boot" if readable(found) else None
    wanted = f"below {STEAL_ALLOWED:.1%}"
    return judge("steal", found, _below(found, STEAL_ALLOWED), wanted, VIRTUAL, shown)


def pressure(facts: Facts) -> Control:
    """PSI: without it, waiting for CPU, disk and memory cannot be distinguished from work."""
    found = fact(facts, "pressure.cpu")
    there = isinstance(found, dict)
    fix = 'add "psi=1" to GRUB_CMDLINE_LINUX in /etc/default/grub, sudo update-grub, reboot'
    shown = "available" if there else f"absent: {str(found).removeprefix(NOT_READABLE)}"
    return judge("pressure information (PSI)", shown, there, "available", fix)


def drop_caches(facts: Facts) -> Control:
    """Page cache: without permission to drop it, no trial is cold, only lukewarm."""
    found = fact(facts, "permissions.drop_caches")
    fix = "run as root (sudo --preserve-env ./bench …), else cold trials are recorded as lukewarm"
    return judge("dropping the page cache", found, found is True, "permitted", fix, _may(found))


def cores(facts: Facts) -> Control:
    """Cores: enough to separate server and client."""
    found = fact(facts, "cpu.usable_cores")
    wanted = f"{CORES_WANTED} or more, to keep server and client apart"
    return judge("cores", found, _least(found, CORES_WANTED), wanted, "use a machine with more cores")


def cpu_limit(facts: Facts) -> Control:
    """CPU quota: the kernel stops a control group with a quota for parts of each period."""
    found = fact(facts, "cgroup.cpu_limit_cores")
    fix = "start the container without --cpus, or the unit without CPUQuota="
    return judge("CPU quota", found, found == "unlimited", "unlimited", fix)


def virtualisation(facts: Facts) -> Control:
    """Virtualisation: cores, caches and disks are shared with unknown machines."""
    found = fact(facts, "virtualisation.hypervisor_flag")
    kind = fact(facts, "virtualisation.hypervisor")
    shown = f"virtual machine ({kind})" if virtual(facts) else "none"
    return judge("virtualisation", found, not virtual(facts), "none", VIRTUAL, shown)


def clocksource(facts: Facts) -> Control:
    """Clock source: any except the processor's own makes reading the time slow."""
    found = fact(facts, "kernel.clocksource")
    there = fact(facts, "kernel.clocksources_available")
    good = ("tsc", "arch_sys_counter", "kvm-clock", "riscv_clocksource")
    best = next((name for name in good if isinstance(there, list) and name in there), None)
    file = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    fix = f"echo {best} | sudo tee {file}" if best else "cannot be fixed: the kernel offers no better one"
    return judge("clock source", found, found in good, "tsc or the hypervisor's own", fix)


def disk(facts: Facts) -> Control:
    """Room for results: a full disk ends a run, and an almost full one slows it."""
    found = fact(facts, "filesystem.free_bytes")
    shown = _size(found) if readable(found) else None
    fix = "free some space, or name a folder on another disk with --results"
    wanted = f"{_size(DISK_WANTED_BYTES)} or more"
    return judge("free disk for results", found, _least(found, DISK_WANTED_BYTES), wanted, fix, shown)


def open_files(facts: Facts) -> Control:
    """Open files: a server that reaches the limit fails in ways that look like its own defects."""
    found, most = fact(facts, "limits.open_files.soft"), fact(facts, "limits.open_files.hard")
    enough = found == "unlimited" or _least(found, FILES_WANTED)
    may = most == "unlimited" or _least(most, FILES_WANTED)
    file = "/etc/security/limits.d/benchbook.conf"
    fix = (
        f"ulimit -n {FILES_WANTED}"
        if may
        else f"echo '* - nofile {FILES_WANTED}' | sudo tee {file}; log in again"
    )
    return judge("open files limit", found, enough, f"{FILES_WANTED} or more", fix)


def time_sync(facts: Facts) -> Control:
    """Wall clock: durations do not need it, but dates of runs and several hosts do."""
    found = fact(facts, "clock.synchronised")
    shown = "synchronised" if found is True else "not synchronised" if found is False else None
    return judge("wall clock", found, found is True, "synchronised", "sudo timedatectl set-ntp true", shown)


def control_groups(facts: Facts) -> Control:
    """Control groups: needed to limit a system's cores and memory."""
    found = fact(facts, "cgroup.controllers")
    missing = [name for name in ("cpu", "cpuset", "memory") if readable(found) and name not in found]
    good = not missing and fact(facts, "cgroup.may_create_groups") is True
    shown = None
    if readable(found):
        shown = f"{fact(facts, 'cgroup.version')}, " + (
            f"without {', '.join(missing)}" if missing else _may(good)
        )
    fix = "run as root, or: systemd-run --user --scope --property=Delegate=yes ./bench …"
    return judge("control groups", found, good, "cpu, cpuset and memory, permitted", fix, shown)


def counters(facts: Facts) -> Control:
    """Hardware counters: needed for instructions and cache misses, not for times."""
    found = fact(facts, "permissions.hardware_counters")
    level, superuser = fact(facts, "permissions.perf_event_paranoid"), fact(facts, "permissions.superuser")
    allowed = superuser is True or (isinstance(level, int) and level <= 2)
    fix = "sudo sysctl -w kernel.perf_event_paranoid=2" if found is True else _hardware(facts, "", "")
    shown = "no" if found is False else _may(allowed)
    return judge("hardware counters", found, found is True and allowed, "permitted", fix, shown)


CONTROLS: tuple[Callable[[Facts], Control], ...] = (
    governor, turbo, smt, aslr, huge_pages, swap, load, steal, pressure, drop_caches, cores, cpu_limit,
    virtualisation, clocksource, disk, open_files, time_sync, control_groups, counters,
)  # fmt: skip
"""The controls in the order of display."""


def _hardware(facts: Facts, found: Any, fix: str) -> str:
    """Return the fix, or that a virtual machine cannot reach the hardware."""
    if readable(found) and fix:
        return fix
    return (
        VIRTUAL
        if virtual(facts)
        else "cannot be fixed here: the kernel does not offer it (see the BIOS settings)"
    )


def _below(found: Any, most: float) -> bool:
    return isinstance(found, int | float) and found < most


def _least(found: Any, least: float) -> bool:
    return isinstance(found, int | float) and found >= least


def _may(found: Any) -> str:
    return "permitted" if found is True else "not permitted"


def _size(found: Any) -> str:
    return f"{found / GIGABYTE:.1f} GB" if isinstance(found, int | float) else str(found)
