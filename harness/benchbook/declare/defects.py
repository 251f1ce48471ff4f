"""Known defects of the published benchmarks, from ``defects.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("defects.toml")


@dataclass(frozen=True)
class Defect:
    """One defect, and how we know it."""

    defect: str
    known: str
    changed: str | None = None
    """A sentence for the index, if correcting the defect changed a result."""
    as_published: str | None = None
    """Id of the claim that measures with the defect; required with ``changed``."""
    corrected: str | None = None
    """Id of the claim that measures without it; required with ``changed``."""


@dataclass(frozen=True)
class Publication:
    """A published benchmark and its known defects."""

    experiment: str
    title: str
    defects: tuple[Defect, ...]


def publications() -> list[Publication]:
    """Return the publications in the order of the file."""
    stated = tomllib.loads(FILE.read_text(encoding="utf-8"))["publications"]
    return [
        Publication(one["experiment"], one["title"], tuple(Defect(**each) for each in one["defects"]))
        for one in stated
    ]
