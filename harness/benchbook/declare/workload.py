"""What a workload is, and the registry of all workloads.

A workload is the work that a phase of an experiment does and times. It is one object, in one module of
``benchbook.workloads``, or of an experiment: its options, its metrics, what it does, and what readers compare. The
registry loads the modules by name, as it loads drivers, because both wings and the declarations ask it.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from benchbook.declare import plugin
from benchbook.declare.checkout import layers
from benchbook.declare.toml import Model

Direction = Literal["higher", "lower", "none"]
"""Which values of a metric are better."""

MODULES = ("load", "query", "sql", "command", "program", "fio", "blob", "ycsb")
"""The modules of ``benchbook.workloads``, each named as its workload; a new workload adds its name."""


Workers = Annotated[int, Field(ge=1, le=4096)]
"""Operations in flight of one client."""


class Options(Model):
    """Options of a workload in a phase."""

    def copies(self) -> int:
        """Return how many times the phase writes the dataset, each time into a separate database."""
        return 0


class LoopOptions(Options):
    """Options of the loop that starts operations."""

    rate: Annotated[float, Field(ge=0, le=1e8)] = 0
    """Operations per second of an open loop; 0 for a closed loop, in which each worker waits for its answer. As a
    factor with several levels, it shows latency against throughput."""
    arrivals: Literal["constant", "poisson"] = "constant"
    """Arrival process of an open loop."""


def refuse_two_ends(counted: str, number: int | None, duration: str | None) -> None:
    """Raise ValueError where both a number of operations and a duration end a phase."""
    if number is not None and duration is not None:
        raise ValueError(f'{counted} = {number} and duration = "{duration}" both end the phase; remove one')


@dataclass(frozen=True)
class Metric:
    """One metric: its unit, which values are better, and its title in reports."""

    name: str
    unit: str
    """SI, ``B`` for bytes, ``1`` for a count or a fraction."""
    direction: Direction
    """Which values are better."""
    title: str
    noun: str = ""
    """The counted thing, such as ``rows``."""
    brief: str = ""
    """A shorter title; by default the title."""
    did: str = ""
    """What a side with a higher value did: its verb and ``{ratio}``, also with ``{phase}`` or ``{done}`` (``Words``).
    Empty: reports name the title."""
    main: bool = False
    """True if tables show it by default."""
    measured_in: str = ""
    """``phase`` or ``trial`` if telemetry measures it there. Empty: only workloads measure it."""

    @property
    def short(self) -> str:
        """The title in a word or two, for the label of a row."""
        return self.brief or self.title.lower()


@dataclass(frozen=True)
class Words:
    """What an operation does, for sentences."""

    doing: str
    """What takes time: "reading"."""
    done: str = "handled"
    """What a system did: "got"."""


@dataclass(frozen=True)
class Rate:
    """The rates of a workload of single operations."""

    metric: str
    """The metric that is compared with the rate of the client alone; its noun is what both count."""
    alone: str
    """The key of that rate in the summary of the client alone."""
    operations: str
    """The metric that counts operations. Times the mean latency, it is the number of operations in flight."""


def _nothing(*_: Any) -> None:
    """Do nothing."""


def _none(*_: Any) -> list[Any]:
    return []


@dataclass(frozen=True)
class Workload:
    """One workload. The functions take the running wing's objects; nothing else here knows either wing."""

    name: str
    options: type[Options]
    run: Callable[[Any, str, Any], None]
    """``run(steps, phase, options)`` does a phase of a trial (``run/steps.py: Steps``)."""
    metrics: tuple[str | Metric, ...]
    """What it measures: its own metrics, and the names of those that it shares (``declare/metric.py``)."""
    compared: tuple[str, ...] = ()
    """Metrics that the summary of a run compares."""
    rate: Rate | None = None
    """None if its operations are not counted one by one, or not against the client's ceiling."""
    prepare: Callable[[Any, Any, Any], None] = _nothing
    """``prepare(context, dataset, options)`` makes what the phase needs, before the first trial of a run."""
    refuse: Callable[[Any, Any, Any, Any], None] = _nothing
    """``refuse(catalogue, dataset, options, levels)`` raises RequestError if a cell cannot do the phase."""
    alone: Callable[[Any, Any], list[Any]] = _none
    """``alone(context, dataset)`` returns the commands of benchload (``run/ceiling.py: Alone``) that measure the
    client without a system."""
    after: Callable[[Any, str, Any], None] = _nothing
    """``after(steps, phase, options)`` does untimed work after the last phase of a trial."""
    programs: tuple[str, ...] = ()
    """Declared systems (``systems/*.toml``) whose programs it starts."""
    loads: bool = False
    """True if its phases fill the system with the dataset of the experiment."""
    queries: bool = False
    """True if each of its phases asks queries of one type, which reports list."""
    reads: bool = False
    """True if it reads the dataset that a load has written; its answers are recorded and compared."""
    paced: bool = False
    """True if its intervals show whether the rate was steady."""
    words: Mapping[str, Words] = field(default_factory=dict)
    """Option ``do`` of a phase, which is the first word of its name or a factor → its words."""
    files: bool = False
    """True if it can use a dataset from a file, which benchload does not generate."""
    only_files: bool = False
    """True if it needs such a dataset."""
    several: Callable[[dict[str, Any], Path], list[dict[str, Any]]] | None = None
    """``several(phase, folder)`` returns the phases that one declared phase stands for, still unchecked; ``folder`` is
    that of the experiment. None: just itself."""
    own_data: bool = False
    """True if it writes other data than the dataset of the experiment."""
    client: str = ""
    """What does the operations, on pages; empty if that is benchload, or a process in which the system runs."""


def workloads() -> Mapping[str, Workload]:
    """Return every workload by name: those of ``MODULES`` in this order, then those of experiments; read once."""
    return _workloads(layers())


@functools.cache
def _workloads(_layers: tuple[Path, ...]) -> Mapping[str, Workload]:
    found = {name: importlib.import_module(f"benchbook.workloads.{name}").workload for name in MODULES}
    return found | plugin.every("workload", MODULES)


def workload(name: str) -> Workload:
    """Return a workload; raise KeyError for an unknown name, which no checked declaration has."""
    return workloads()[name]


def having(trait: Callable[[Workload], object]) -> list[str]:
    """Return the names of the workloads that have a trait.

    >>> having(lambda one: one.loads)
    ['load']
    """
    return [one.name for one in workloads().values() if trait(one)]
