"""Load of the machine: load averages, pressure stall information (PSI), time stolen by the hypervisor."""

from __future__ import annotations

import os

from benchbook.host.reading import Facts, Tree, Unreadable, read_fact

RESOURCES = ("cpu", "io", "memory")
STEAL = 7
"""Index of steal among the numbers of a ``cpu`` line: user nice system idle iowait irq softirq steal."""
COUNTED = 8
"""Numbers to add up; the guest times after steal are already included in user and nice."""


def load(tree: Tree) -> Facts:
    """Return the load averages over 1, 5 and 15 minutes and the number of runnable processes."""
    return {
        "load1": read_fact(lambda: float(_loadavg(tree)[0])),
        "load5": read_fact(lambda: float(_loadavg(tree)[1])),
        "load15": read_fact(lambda: float(_loadavg(tree)[2])),
        "runnable": read_fact(lambda: int(_loadavg(tree)[3].partition("/")[0])),
    }


def pressure(tree: Tree) -> Facts:
    """Return PSI of cpu, io and memory: averages in percent, totals in seconds."""
    return {name: read_fact(lambda at: stalls(_psi(tree, at)), name) for name in RESOURCES}


def steal(tree: Tree) -> Facts:
    """Return the time since boot that the hypervisor took from this machine, in core-seconds and as a share."""
    return {
        "seconds": read_fact(lambda: ticks(tree)[STEAL] / os.sysconf("SC_CLK_TCK")),
        "fraction_since_boot": read_fact(lambda: ticks(tree)[STEAL] / sum(ticks(tree))),
    }


def current_load(tree: Tree | None = None) -> dict[str, float]:
    """Return the machine's load just before a trial, without unreadable numbers."""
    tree = tree or Tree()
    found = load(tree)
    for name, lines in pressure(tree).items():
        if isinstance(lines, dict):
            found[f"psi_{name}_some_avg10"] = lines["some"]["avg10"]
    return {name: float(value) for name, value in found.items() if not isinstance(value, str)}


def stalls(text: str) -> dict[str, dict[str, float]]:
    """Return the lines of a pressure file as kind → averages in percent and ``total_seconds``.

    >>> stalls("some avg10=1.50 avg60=0.10 avg300=0.00 total=2500000")
    {'some': {'avg10': 1.5, 'avg60': 0.1, 'avg300': 0.0, 'total_seconds': 2.5}}
    """
    found: dict[str, dict[str, float]] = {}
    for line in text.splitlines():
        kind, *fields = line.split()
        numbers = {name: float(value) for name, _, value in (field.partition("=") for field in fields)}
        numbers["total_seconds"] = numbers.pop("total") / 1e6
        found[kind] = numbers
    return found


def ticks(tree: Tree) -> list[int]:
    """Return the machine's CPU time so far in ticks: user nice system idle iowait irq softirq steal."""
    first = tree.text("/proc/stat").splitlines()[0].split()
    if first[0] != "cpu" or len(first) <= COUNTED:
        raise Unreadable("/proc/stat has no cpu line with steal")
    return [int(number) for number in first[1 : COUNTED + 1]]


def _loadavg(tree: Tree) -> list[str]:
    return tree.text("/proc/loadavg").split()


def _psi(tree: Tree, name: str) -> str:
    found = tree.text(f"/proc/pressure/{name}")
    if not found:
        raise Unreadable(f"/proc/pressure/{name}: empty")
    return found
