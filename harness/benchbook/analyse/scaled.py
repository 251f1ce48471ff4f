"""Label runs of profile ``published`` on a machine smaller than the publication's as scaled."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.declare.claim import PublishedMachine

PUBLISHED = "published"
_NEARLY = 0.9
"""The memory that a machine reports is slightly less than its nominal size."""


def scaled(profile: str, machine: PublishedMachine | None, host: Mapping[str, Any]) -> Reason | None:
    """Return how the machine is smaller than the publication's; None if the run is not scaled.

    ``host`` is that part of run.json. If the publication's machine is not declared, the run has no label.
    """
    if profile != PUBLISHED or machine is None:
        return None
    cpu, memory = host.get("cpu") or {}, host.get("memory") or {}
    cores = cpu.get("usable_cores", cpu.get("logical_cores", cpu.get("cores")))
    size = memory.get("total_bytes", memory.get("bytes"))
    short: dict[str, Any] = {}
    if isinstance(cores, int) and cores < machine.cores:
        short["cores"] = {"here": cores, "published": machine.cores}
    if isinstance(size, int | float) and size < _NEARLY * machine.memory_gb * 1e9:
        short["memory_gb"] = {"here": size / 1e9, "published": machine.memory_gb}
    return because("scaled", **short) if short else None


@functools.cache
def of_run(run: Run) -> Reason | None:
    """Return how the run's machine is smaller than the publication's; None if the run is not scaled."""
    from benchbook.declare.claim import PublishedMachine

    stated = (run.facts("declared").get("experiment") or {}).get("published_machine")
    try:
        machine = PublishedMachine.model_validate(stated) if stated else None
    except ValueError:
        return None
    return scaled(run.info["profile"], machine, run.facts("host"))
