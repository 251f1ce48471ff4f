"""Facts of the machine that are stored with a run (rule 13 of docs/methods.md)."""

from __future__ import annotations

import hashlib
import hmac
import os
import platform
import resource
from collections.abc import Callable
from pathlib import Path

from benchbook.host.cgroup import cgroup
from benchbook.host.conditions import load, pressure, steal, timekeeping
from benchbook.host.filesystem import filesystem
from benchbook.host.hardware import cpu, flags, memory, numa, swap
from benchbook.host.reading import Facts, Tree, Unreadable, fact, program_output, read_fact, readable

BOOT_ID = "/proc/sys/kernel/random/boot_id"
CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0"

BOOT_OPTIONS = (
    "mitigations", "isolcpus", "nohz_full", "rcu_nocbs", "nosmt", "maxcpus", "mem", "psi", "idle",
    "intel_idle.max_cstate", "processor.max_cstate", "intel_pstate", "amd_pstate", "transparent_hugepage",
    "clocksource", "preempt",
)  # fmt: skip
"""Boot options that affect measurements. The rest of the line is private."""


def kernel(tree: Tree) -> Facts:
    """Return the kernel's version and those of its settings that affect measurements."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "build": platform.version(),
        "boot_options": read_fact(lambda: _boot_options(tree.text("/proc/cmdline"))),
        "aslr": read_fact(tree.number, "/proc/sys/kernel/randomize_va_space"),
        "clocksource": read_fact(tree.text, f"{CLOCKSOURCE}/current_clocksource"),
        "clocksources_available": read_fact(
            lambda: tree.text(f"{CLOCKSOURCE}/available_clocksource").split()
        ),
    }


def operating_system(tree: Tree) -> Facts:
    """Return the distribution's name and version, and the C library."""
    return {
        "name": read_fact(lambda: _release(tree)["PRETTY_NAME"]),
        "id": read_fact(lambda: _release(tree)["ID"]),
        "version": read_fact(lambda: _release(tree)["VERSION_ID"]),
        "libc": read_fact(lambda: os.confstr("CS_GNU_LIBC_VERSION")),
    }


def machine(tree: Tree) -> Facts:
    """Return ids that are equal for runs of one machine, and of one boot of it, and reveal nothing about it.

    Each is a keyed digest of the kernel's or systemd's id, as machine-id(5) requires of programs that show it. Copies
    of a virtual machine share the id of the machine, but not that of the boot.
    """
    return {"id": read_fact(_id, tree, "/etc/machine-id"), "boot": read_fact(_id, tree, BOOT_ID)}


def _id(tree: Tree, file: str) -> str:
    secret = tree.text(file)
    if len(secret) < 32:
        raise Unreadable(f"{file}: holds no id")
    return hmac.new(secret.encode(), b"benchbook", hashlib.sha256).hexdigest()[:16]


def _boot_options(line: str) -> dict[str, str]:
    found = dict(option.partition("=")[::2] for option in line.split())
    return {name: found[name] or "set" for name in BOOT_OPTIONS if name in found}


def _release(tree: Tree) -> dict[str, str]:
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        if tree.at(path).exists():
            lines = (line.partition("=")[::2] for line in tree.text(path).splitlines() if "=" in line)
            return {key: value.strip("\"'") for key, value in lines}
    raise Unreadable("there is no /etc/os-release")


CONTAINER_MARKS = {"/.dockerenv": "docker", "/run/.containerenv": "podman"}
CONTAINER_GROUPS = ("docker", "kubepods", "lxc", "libpod", "containerd")


def virtualisation(tree: Tree) -> Facts:
    """Return the hypervisor flag, and the kinds of hypervisor and container ("none" on bare metal)."""
    return {
        "hypervisor_flag": read_fact(lambda: "hypervisor" in flags(tree)),
        "hypervisor": read_fact(_hypervisor, tree),
        "container": read_fact(_container, tree),
        "vendor": read_fact(tree.text, "/sys/class/dmi/id/sys_vendor"),
        "product": read_fact(tree.text, "/sys/class/dmi/id/product_name"),
    }


def virtual(facts: Facts) -> bool:
    """Return whether the facts describe a virtual machine."""
    topic = facts.get("virtualisation", {})
    named = topic.get("hypervisor", "none")
    return topic.get("hypervisor_flag") is True or (readable(named) and named != "none")


def known_virtual(facts: Facts) -> bool | None:
    """Return the same; None where the facts do not say which hypervisor there is, if any."""
    return virtual(facts) or (False if readable(facts.get("virtualisation", {}).get("hypervisor")) else None)


def _hypervisor(tree: Tree) -> str:
    if tree.real:
        try:
            return program_output(["systemd-detect-virt", "--vm"])
        except Unreadable:
            pass
    if tree.at("/sys/hypervisor/type").exists():
        return tree.text("/sys/hypervisor/type")
    return "unknown kind" if "hypervisor" in flags(tree) else "none"


def _container(tree: Tree) -> str:
    if tree.real:
        try:
            return program_output(["systemd-detect-virt", "--container"])
        except Unreadable:
            pass
    for mark, kind in CONTAINER_MARKS.items():
        if tree.at(mark).exists():
            return kind
    groups = tree.text("/proc/self/cgroup")
    return next((kind for kind in CONTAINER_GROUPS if f"/{kind}" in groups), "none")


RESOURCES = {
    "open_files": resource.RLIMIT_NOFILE,
    "processes": resource.RLIMIT_NPROC,
    "locked_memory_bytes": resource.RLIMIT_MEMLOCK,
    "address_space_bytes": resource.RLIMIT_AS,
    "stack_bytes": resource.RLIMIT_STACK,
    "file_size_bytes": resource.RLIMIT_FSIZE,
}


def limits(tree: Tree) -> Facts:
    """Return the soft and hard limits that servers inherit, and the kernel's limits."""
    inherited: Facts = {name: read_fact(_limit, number) for name, number in RESOURCES.items()}
    return inherited | {
        "kernel_open_files": read_fact(tree.number, "/proc/sys/fs/file-max"),
        "kernel_memory_maps": read_fact(tree.number, "/proc/sys/vm/max_map_count"),
        "kernel_listen_backlog": read_fact(tree.number, "/proc/sys/net/core/somaxconn"),
        "local_ports": read_fact(lambda: tree.text("/proc/sys/net/ipv4/ip_local_port_range").split()),
    }


def _limit(number: int) -> Facts:
    soft, hard = resource.getrlimit(number)
    return {"soft": _shown(soft), "hard": _shown(hard)}


def _shown(value: int) -> int | str:
    return "unlimited" if value == resource.RLIM_INFINITY else value


DROP_CACHES = "/proc/sys/vm/drop_caches"
COUNTERS = ("cpu", "cpu_core", "armv8_pmuv3*")
"""Names under which the kernel lists a processor's event counters."""


def permissions(tree: Tree) -> Facts:
    """Return whether this user may drop the page cache and read hardware event counters."""
    return {
        "drop_caches": read_fact(lambda: os.access(tree.at(DROP_CACHES), os.W_OK)),
        "hardware_counters": read_fact(_counters, tree),
        "perf_event_paranoid": read_fact(tree.number, "/proc/sys/kernel/perf_event_paranoid"),
        "superuser": os.geteuid() == 0,
    }


def _counters(tree: Tree) -> bool:
    return any(tree.names("/sys/bus/event_source/devices", name) for name in COUNTERS)


TOPICS: dict[str, Callable[[Tree], Facts]] = {
    "machine": machine,
    "cpu": cpu,
    "memory": memory,
    "swap": swap,
    "numa": numa,
    "kernel": kernel,
    "operating_system": operating_system,
    "virtualisation": virtualisation,
    "cgroup": cgroup,
    "limits": limits,
    "clock": timekeeping,
    "permissions": permissions,
    "load": load,
    "pressure": pressure,
    "steal": steal,
}


def facts(data_folder: Path, tree: Tree | None = None) -> Facts:
    """Return the machine's facts as topic → key → value, all of them JSON.

    ``data_folder`` is the folder for the run's data, which need not exist yet. An unreadable fact is the text ``not
    readable: why``. The facts contain no host name, user name, user's path or environment.
    """
    tree = tree or Tree()
    found: Facts = {topic: read_fact(read, tree) for topic, read in TOPICS.items()}
    found["filesystem"] = read_fact(filesystem, data_folder, tree)
    return found


SETTINGS = (
    "machine.boot", "kernel.release", "cpu.usable_cores", "cpu.governor", "cpu.turbo", "cpu.smt",
    "memory.transparent_huge_pages", "swap.total_bytes", "cgroup.cpu_limit_cores", "cgroup.cpuset_cores",
    "cgroup.memory_limit_bytes",
)  # fmt: skip
"""Facts that somebody may change between two trials of a run, and that change what is measured."""


def settings(tree: Tree | None = None) -> Facts:
    """Return the readable facts among ``SETTINGS`` as they are now: path of the fact → value."""
    tree = tree or Tree()
    found = {topic: read_fact(TOPICS[topic], tree) for topic in {one.partition(".")[0] for one in SETTINGS}}
    return {path: value for path in SETTINGS if readable(value := fact(found, path))}
