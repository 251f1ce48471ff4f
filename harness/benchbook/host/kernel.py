"""Facts about the kernel and the operating system, and an id of the machine that tells nothing else."""

from __future__ import annotations

import hashlib
import hmac
import os
import platform

from benchbook.host.reading import Facts, Tree, Unreadable, stated

CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0"

BOOT_OPTIONS = (
    "mitigations",
    "isolcpus",
    "nohz_full",
    "rcu_nocbs",
    "nosmt",
    "maxcpus",
    "mem",
    "psi",
    "idle",
    "intel_idle.max_cstate",
    "processor.max_cstate",
    "intel_pstate",
    "amd_pstate",
    "transparent_hugepage",
    "clocksource",
    "preempt",
)
"""Boot options that change a measurement. The rest of the line is not ours to publish."""


def kernel(tree: Tree) -> Facts:
    """Return the kernel's version and the settings of it that change a measurement."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "build": platform.version(),
        "boot_options": stated(lambda: _boot_options(tree.text("/proc/cmdline"))),
        "aslr": stated(tree.number, "/proc/sys/kernel/randomize_va_space"),
        "clocksource": stated(tree.text, f"{CLOCKSOURCE}/current_clocksource"),
        "clocksources_available": stated(lambda: tree.text(f"{CLOCKSOURCE}/available_clocksource").split()),
    }


def operating_system(tree: Tree) -> Facts:
    """Return the distribution's name and version, and the C library."""
    return {
        "name": stated(lambda: _release(tree)["PRETTY_NAME"]),
        "id": stated(lambda: _release(tree)["ID"]),
        "version": stated(lambda: _release(tree)["VERSION_ID"]),
        "libc": stated(lambda: os.confstr("CS_GNU_LIBC_VERSION")),
    }


def machine(tree: Tree) -> Facts:
    """Return an id that is equal for runs of one machine and from which nothing can be read back.

    It is a keyed digest of /etc/machine-id, as machine-id(5) asks of programs that show it to others.
    """
    return {"id": stated(_id, tree)}


def _id(tree: Tree) -> str:
    secret = tree.text("/etc/machine-id")
    if len(secret) < 32:
        raise Unreadable("/etc/machine-id: holds no id")
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
