"""All facts of the machine that a run is stored with (rule 13 of docs/methods.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchbook.host.cgroup import cgroup
from benchbook.host.clock import timekeeping
from benchbook.host.cpu import cpu
from benchbook.host.filesystem import filesystem
from benchbook.host.kernel import kernel, machine, operating_system
from benchbook.host.limits import limits
from benchbook.host.memory import memory, numa, swap
from benchbook.host.permissions import permissions
from benchbook.host.pressure import load, pressure, steal
from benchbook.host.reading import Facts, Tree, stated
from benchbook.host.virtualisation import virtualisation

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

    ``data_folder`` is where the run keeps its data; it need not exist yet. What cannot be read is the text
    ``not readable: why``. No host name, user name, path of the user's or environment is among the facts.
    """
    tree = tree or Tree()
    found: Facts = {topic: stated(read, tree) for topic, read in TOPICS.items()}
    found["filesystem"] = stated(filesystem, data_folder, tree)
    return found
