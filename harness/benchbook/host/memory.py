"""Facts about memory: sizes, swap, write-back limits, huge pages, NUMA nodes."""

from __future__ import annotations

import os
import re

from benchbook.host.cpu import numbers
from benchbook.host.reading import Facts, Tree, Unreadable, chosen, stated

THP = "/sys/kernel/mm/transparent_hugepage"
NODES = "/sys/devices/system/node"


def memory(tree: Tree) -> Facts:
    """Return sizes in bytes and the settings that decide when written data leaves memory."""
    return {
        "total_bytes": stated(lambda: meminfo(tree)["MemTotal"]),
        "available_bytes": stated(lambda: meminfo(tree)["MemAvailable"]),
        "huge_pages_bytes": stated(lambda: meminfo(tree)["Hugetlb"]),
        "transparent_huge_pages": stated(lambda: chosen(tree.text(f"{THP}/enabled"))),
        "transparent_huge_pages_defrag": stated(lambda: chosen(tree.text(f"{THP}/defrag"))),
        "dirty_ratio": stated(tree.number, "/proc/sys/vm/dirty_ratio"),
        "dirty_background_ratio": stated(tree.number, "/proc/sys/vm/dirty_background_ratio"),
        "overcommit": stated(tree.number, "/proc/sys/vm/overcommit_memory"),
    }


def swap(tree: Tree) -> Facts:
    """Return swap sizes in bytes, its kinds (partition, file) and the kernel's readiness to use it."""
    return {
        "total_bytes": stated(lambda: meminfo(tree)["SwapTotal"]),
        "used_bytes": stated(lambda: meminfo(tree)["SwapTotal"] - meminfo(tree)["SwapFree"]),
        "kinds": stated(lambda: sorted({line.split()[1] for line in _swaps(tree)})),
        "swappiness": stated(tree.number, "/proc/sys/vm/swappiness"),
    }


def numa(tree: Tree) -> Facts:
    """Return the memory nodes with their cores and bytes, and whether pages are moved between them."""
    return {
        "nodes": stated(_nodes, tree),
        "balancing": stated(tree.number, "/proc/sys/kernel/numa_balancing"),
    }


def meminfo(tree: Tree) -> dict[str, int]:
    """Return /proc/meminfo in bytes; a key that is absent raises Unreadable when it is asked for."""

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
        raise Unreadable("the kernel shows no memory nodes")
    return [
        {
            "node": node,
            "cores": stated(lambda at: len(numbers(tree.text(f"{NODES}/{at}/cpulist"))), node),
            "total_bytes": stated(lambda at: _node_bytes(tree.text(f"{NODES}/{at}/meminfo")), node),
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
