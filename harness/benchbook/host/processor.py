"""The processor of a run, by which machines are told apart.

Ratios differ between processors more than between runs on one processor. Neither the machine's id nor the model name
identifies a processor: copies of a virtual machine share the id, and hypervisors show several processors under one name
such as "AMD EPYC". The sizes of the caches and the features differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from benchbook.host.reading import readable

T = TypeVar("T")

STATED = (
    "architecture", "vendor", "model", "family", "model_number", "stepping", "flags_count", "flags_digest",
    "usable_cores",
)  # fmt: skip
"""Facts of the processor that must agree, beside its caches; older runs lack some of them."""


@dataclass(frozen=True)
class Processor:
    """A processor as the facts of a run describe it."""

    facts: tuple[tuple[str, str], ...]
    """Name → value of each fact that could be read, in the order of ``STATED``, then the caches."""

    def same(self, other: Processor) -> bool:
        """Return whether two runs had the same processor: they agree in each fact that both state."""
        theirs = dict(other.facts)
        return all(theirs.get(name, value) == value for name, value in self.facts)

    @property
    def name(self) -> str:
        """The model with what distinguishes it from others of that name: "AMD EPYC (L1d 32K, L2 1024K, 105 flags)"."""
        held = dict(self.facts)
        parts = [f"{name} {size}" for name, size in self.facts if name.startswith("L")]
        parts += [f"{held['flags_count']} flags"] if "flags_count" in held else []
        return f"{held['model']} ({', '.join(parts)})" if parts else held["model"]


def of(cpu: Mapping[str, Any]) -> Processor | None:
    """Return the processor from the facts of topic ``cpu`` (``host.hardware.cpu``); None if its model is unknown.

    >>> of({"model": "AMD EPYC", "caches": [{"level": 1, "type": "Data", "size": "48K"}], "flags_count": 106}).name
    'AMD EPYC (L1d 48K, 106 flags)'
    """
    if not readable(cpu.get("model")):
        return None
    stated = [(name, str(cpu[name])) for name in STATED if readable(cpu.get(name))]
    return Processor((*stated, *_caches(cpu.get("caches"))))


def is_one(first: Processor | None, other: Processor | None) -> bool:
    """Return whether two runs had one processor; False if either is unknown."""
    return first is not None and other is not None and first.same(other)


def groups(held: Iterable[T], of: Callable[[T], Processor | None]) -> list[list[T]]:
    """Return things in groups of one processor each, in their order; one of an unknown processor is a group alone."""
    found: list[list[T]] = []
    for each in held:
        group = next((group for group in found if is_one(of(group[0]), of(each))), None)
        if group is None:
            found.append([each])
        else:
            group.append(each)
    return found


def names(held: Sequence[Processor | None]) -> list[str]:
    """Return a short name for each processor: its model, and the facts in which processors of that name differ.

    >>> small, large = ({"model": "AMD EPYC", "flags_count": 105, "stepping": step} for step in ("1", "2"))
    >>> names([of(small), of(large), None])
    ['AMD EPYC (stepping 1)', 'AMD EPYC (stepping 2)', 'unknown processor']
    """
    known = [dict(one.facts) for one in held if one is not None]
    found = []
    for one in held:
        if one is None:
            found.append("unknown processor")
            continue
        own = dict(one.facts)
        alike = [other for other in known if other["model"] == own["model"]]
        telling = [name for name in own if len({other.get(name) for other in alike}) > 1]
        caches = [f"{name} {own[name]}" for name in telling if name.startswith("L")]
        others = [f"{name.replace('_', ' ')} {own[name]}" for name in telling if not name.startswith("L")]
        said = ", ".join((caches or others)[:2])
        found.append(f"{own['model']} ({said})" if said else own["model"])
    return found


def _caches(held: Any) -> list[tuple[str, str]]:
    """Return the name and size of each cache, such as ``("L1d", "32K")``."""
    found = []
    for one in held if isinstance(held, list) else []:
        level, kind, size = (one.get(key) for key in ("level", "type", "size"))
        if readable(level) and readable(size):
            letter = {"Data": "d", "Instruction": "i"}.get(str(kind), "")
            found.append((f"L{level}{letter}", str(size)))
    return found
