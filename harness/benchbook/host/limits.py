"""Facts about the limits of our own process and the kernel's limits that databases run into."""

from __future__ import annotations

import resource

from benchbook.host.reading import Facts, Tree, stated

RESOURCES = {
    "open_files": resource.RLIMIT_NOFILE,
    "processes": resource.RLIMIT_NPROC,
    "locked_memory_bytes": resource.RLIMIT_MEMLOCK,
    "address_space_bytes": resource.RLIMIT_AS,
    "stack_bytes": resource.RLIMIT_STACK,
    "file_size_bytes": resource.RLIMIT_FSIZE,
}


def limits(tree: Tree) -> Facts:
    """Return soft and hard limits that a server started by us inherits, and the kernel's own."""
    own: Facts = {name: stated(_limit, number) for name, number in RESOURCES.items()}
    return own | {
        "kernel_open_files": stated(tree.number, "/proc/sys/fs/file-max"),
        "kernel_memory_maps": stated(tree.number, "/proc/sys/vm/max_map_count"),
        "kernel_listen_backlog": stated(tree.number, "/proc/sys/net/core/somaxconn"),
        "local_ports": stated(lambda: tree.text("/proc/sys/net/ipv4/ip_local_port_range").split()),
    }


def _limit(number: int) -> Facts:
    soft, hard = resource.getrlimit(number)
    return {"soft": _shown(soft), "hard": _shown(hard)}


def _shown(value: int) -> int | str:
    return "unlimited" if value == resource.RLIM_INFINITY else value
