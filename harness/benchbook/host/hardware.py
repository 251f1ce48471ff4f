"""Facts about processor and memory."""

from __future__ import annotations

import hashlib
import os
import platform
import re

from benchbook.host.reading import Facts, Tree, Unreadable, read_fact, selected_option

CPUS = "/sys/devices/system/cpu"


def cpu(tree: Tree) -> Facts:
    """Return the processor's facts; frequencies in MHz, cache sizes in the kernel's notation."""
    return {
        "model": read_fact(_model, tree),
        "vendor": read_fact(_field, tree, "vendor_id"),
        "family": read_fact(_field, tree, "cpu family"),
        "model_number": read_fact(_field, tree, "model"),
        "stepping": read_fact(_field, tree, "stepping"),
        "architecture": platform.machine(),
        "logical_cores": read_fact(lambda: len(online(tree))),
        "usable_cores": read_fact(lambda: len(os.sched_getaffinity(0))),
        "physical_cores": read_fact(lambda: len(_siblings(tree))),
        "flags_count": read_fact(lambda: len(flags(tree))),
        "flags_digest": read_fact(lambda: _digest(flags(tree))),
        "microcode": read_fact(_field, tree, "microcode"),
        "smt": read_fact(lambda: {0: "off", 1: "on"}[tree.number(f"{CPUS}/smt/active")]),
        "smt_control": read_fact(tree.text, f"{CPUS}/smt/control"),
        "governor": read_fact(_policies, tree, "scaling_governor"),
        "frequency_driver": read_fact(_policies, tree, "scaling_driver"),
        "turbo": read_fact(_turbo, tree),
        "frequency_mhz": read_fact(_frequency, tree),
        "caches": read_fact(_caches, tree),
        "isolated": read_fact(lambda: tree.text(f"{CPUS}/isolated") or "none"),
    }


def online(tree: Tree) -> list[int]:
    """Return the numbers of the logical cores that are online."""
    return numbers(tree.text(f"{CPUS}/online"))


def numbers(text: str) -> list[int]:
    """Parse the kernel's notation for a list of numbers.

    >>> numbers("0-2,5")
    [0, 1, 2, 5]
    """
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found


def flags(tree: Tree) -> list[str]:
    """Return the processor's feature flags (``Features`` on Arm)."""
    try:
        return _field(tree, "flags").split()
    except Unreadable:
        return _field(tree, "Features").split()


def _digest(names: list[str]) -> str:
    return hashlib.sha256(" ".join(sorted(names)).encode()).hexdigest()[:16]


def _field(tree: Tree, name: str) -> str:
    for line in tree.text("/proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    raise Unreadable(f"/proc/cpuinfo has no {name}")


def _model(tree: Tree) -> str:
    try:
        return _field(tree, "model name")
    except Unreadable:  # Arm identifies its cores by number only
        return f"implementer {_field(tree, 'CPU implementer')} part {_field(tree, 'CPU part')}"


def _siblings(tree: Tree) -> set[str]:
    return {tree.text(f"{CPUS}/cpu{core}/topology/thread_siblings_list") for core in online(tree)}


def _policies(tree: Tree, file: str) -> list[str]:
    policies = tree.names(f"{CPUS}/cpufreq", "policy*")
    if not policies:
        raise Unreadable("the kernel offers no frequency control (cpufreq)")
    return sorted({tree.text(f"{CPUS}/cpufreq/{policy}/{file}") for policy in policies})


def _turbo(tree: Tree) -> str:
    if tree.at(f"{CPUS}/intel_pstate/no_turbo").exists():
        return "off" if tree.number(f"{CPUS}/intel_pstate/no_turbo") else "on"
    if tree.at(f"{CPUS}/cpufreq/boost").exists():
        return "on" if tree.number(f"{CPUS}/cpufreq/boost") else "off"
    raise Unreadable("neither intel_pstate/no_turbo nor cpufreq/boost exists")


def _frequency(tree: Tree) -> Facts:
    try:
        return {
            name: int(_policies(tree, f"{file}_freq")[0]) // 1000
            for name, file in (("now", "scaling_cur"), ("least", "cpuinfo_min"), ("most", "cpuinfo_max"))
        }
    except Unreadable:  # a virtual machine has one frequency in cpuinfo and none in cpufreq
        return {"now": round(float(_field(tree, "cpu MHz")))}


def _caches(tree: Tree) -> list[Facts]:
    folder = f"{CPUS}/cpu0/cache"
    indices = tree.names(folder, "index*")
    if not indices:
        raise Unreadable("the kernel lists no caches of cpu0")
    return [
        {
            "level": read_fact(tree.number, f"{folder}/{index}/level"),
            "type": read_fact(tree.text, f"{folder}/{index}/type"),
            "size": read_fact(tree.text, f"{folder}/{index}/size"),
            "shared_by_cores": read_fact(tree.text, f"{folder}/{index}/shared_cpu_list"),
        }
        for index in indices
    ]


THP = "/sys/kernel/mm/transparent_hugepage"
NODES = "/sys/devices/system/node"


def memory(tree: Tree) -> Facts:
    """Return sizes in bytes and the settings that control write-back."""
    return {
        "total_bytes": read_fact(lambda: meminfo(tree)["MemTotal"]),
        "available_bytes": read_fact(lambda: meminfo(tree)["MemAvailable"]),
        "huge_pages_bytes": read_fact(lambda: meminfo(tree)["Hugetlb"]),
        "transparent_huge_pages": read_fact(lambda: selected_option(tree.text(f"{THP}/enabled"))),
        "transparent_huge_pages_defrag": read_fact(lambda: selected_option(tree.text(f"{THP}/defrag"))),
        "dirty_ratio": read_fact(tree.number, "/proc/sys/vm/dirty_ratio"),
        "dirty_background_ratio": read_fact(tree.number, "/proc/sys/vm/dirty_background_ratio"),
        "overcommit": read_fact(tree.number, "/proc/sys/vm/overcommit_memory"),
    }


def swap(tree: Tree) -> Facts:
    """Return swap sizes in bytes, its kinds (partition, file) and the kernel's swappiness."""
    return {
        "total_bytes": read_fact(lambda: meminfo(tree)["SwapTotal"]),
        "used_bytes": read_fact(lambda: meminfo(tree)["SwapTotal"] - meminfo(tree)["SwapFree"]),
        "kinds": read_fact(lambda: sorted({line.split()[1] for line in _swaps(tree)})),
        "swappiness": read_fact(tree.number, "/proc/sys/vm/swappiness"),
    }


def numa(tree: Tree) -> Facts:
    """Return the memory nodes with their cores and bytes, and whether the kernel moves pages between them."""
    return {
        "nodes": read_fact(_nodes, tree),
        "balancing": read_fact(tree.number, "/proc/sys/kernel/numa_balancing"),
    }


def meminfo(tree: Tree) -> dict[str, int]:
    """Return /proc/meminfo in bytes; looking up an absent key raises Unreadable."""

    class Named(dict[str, int]):
        def __missing__(self, key: str) -> int:
            raise Unreadable(f"/proc/meminfo has no {key}")

    found = re.findall(r"^(\w+):\s+(\d+) kB$", tree.text("/proc/meminfo"), flags=re.MULTILINE)
    return Named({key: int(value) * 1024 for key, value in found})


def _swaps(tree: Tree) -> list[str]:
    return tree.text("/proc/swaps").splitlines()[1:]


def _nodes(tree: Tree) -> list[Facts]:
    nodes = tree.names(NODES, "node[0-9]*")
    if not nodes:
        raise Unreadable("the kernel lists no NUMA nodes")
    return [
        {
            "node": node,
            "cores": read_fact(lambda at: len(numbers(tree.text(f"{NODES}/{at}/cpulist"))), node),
            "total_bytes": read_fact(lambda at: _node_bytes(tree.text(f"{NODES}/{at}/meminfo")), node),
        }
        for node in nodes
    ]


def _node_bytes(text: str) -> int:
    found = re.search(r"MemTotal:\s+(\d+) kB", text)
    if not found:
        raise Unreadable("the node's meminfo has no MemTotal")
    return int(found.group(1)) * 1024


def machine_bytes() -> float:
    """Return the memory of the machine."""
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
