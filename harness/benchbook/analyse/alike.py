"""What a setup did in a phase, as a key by which runs are matched, and the class of its metric."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Hashable, Iterable
from typing import Literal

from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.declare.experiment import LIMIT_FACTORS
from benchbook.declare.workload import workloads

Kind = Literal["speed", "tail", "storage", "processor time", "memory", "size"]
KINDS: dict[Kind, str] = {
    "speed": "rates and typical latencies",
    "tail": "99th percentiles of latency",
    "storage": "rates and latencies bound by storage",
    "processor time": "processor time of the server",
    "memory": "memory of the server",
    "size": "bytes on disk",
}
"""Classes of metrics that differ in how much processors change their ratios."""
_KIND_OF: dict[str, Kind] = {
    "server_cpu_seconds": "processor time",
    "server_rss_peak_bytes": "memory",
    "disk_bytes": "size", "bytes_per_value": "size", "bytes_per_row": "size",
    "latency_p99": "tail", "latency_p50": "speed", "latency_mean": "speed",
    "seconds": "speed", "acknowledged_seconds": "speed", "command_seconds": "speed",
}  # fmt: skip
USED: tuple[Kind, ...] = ("processor time", "memory", "size")
"""Classes that tables do not show by default."""
FLUSHES = 50.0
"""Flushes of the device per second from which a phase is bound by storage."""
_LOCAL = "local"


def kind_of(metric: str) -> Kind | None:
    """Return the class of a metric, apart from storage; None for a metric that is not part of this.

    >>> kind_of("rows_per_second"), kind_of("disk_bytes"), kind_of("retries")
    ('speed', 'size', None)
    """
    return _KIND_OF.get(metric, "speed" if "per_second" in metric else None)


def bound_kind(kind: Kind) -> Kind:
    """Return the class of a metric in a phase that storage bounds."""
    return "storage" if kind == "speed" else kind


def is_bound(run: Run, cells: Iterable[Cell], phase: str) -> bool:
    """Return whether storage bounds a phase: it flushes the device often, or a setup is on a mounted storage."""
    held = list(cells)
    mounted = any(cell.levels.get("storage", _LOCAL) != _LOCAL for cell in held)
    return mounted or max(_flushes(run, cell, phase) for cell in held) > FLUSHES


def _flushes(run: Run, cell: Cell, phase: str) -> float:
    """Return flushes of the device per second of a phase; 0 where they were not recorded."""
    counts = run.values(cell, (phase, "device_flushes")).by_block.values()
    seconds = run.phase_seconds(cell, phase)
    return sum(counts) / len(counts) / seconds if counts and seconds else 0.0


def work(run: Run, cell: Cell, phase: str) -> Hashable:
    """Return everything that a setup did in a phase, as a key; a limit that all setups share is the machine's."""
    varying = dict(cell.varying)
    levels = tuple(one for one in cell.size if one[0] not in LIMIT_FACTORS or one[0] in varying)
    planned = [str(one["name"]) for one in run.facts("planned").get("phases") or []]
    before = planned[: planned.index(phase)] if phase in planned else planned
    done = [name for name in before if name in run.loads] + [phase] * (phase in planned)
    asked = any(name in run.queries or name not in run.loads for name in done)
    return (
        levels, cell.datasets, cell.queries if asked else (), cell.configurations, cell.versions,
        tuple(_options(run, name) for name in done),
    )  # fmt: skip


@functools.cache
def _options(run: Run, phase: str) -> str:
    """Return the options of a phase as it was planned, as text; those that its plan did not know are the defaults."""
    planned = next(one for one in run.facts("planned")["phases"] if one["name"] == phase)
    stated = planned.get("options") or {}
    known = workloads().get(planned["workload"])
    with contextlib.suppress(ValueError):
        stated = known.options.model_validate(stated).model_dump(mode="json") if known else stated
    return json.dumps([planned["workload"], stated, planned.get("only")], sort_keys=True)
