"""Known defects of the published benchmarks, from ``experiments/defects.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from benchbook.declare.checkout import root


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
    """Return the publications in the order of the file; none if the checkout has no file."""
    file = root() / "experiments" / "defects.toml"
    stated = tomllib.loads(file.read_text(encoding="utf-8"))["publications"] if file.is_file() else []
    return [
        Publication(one["experiment"], one["title"], tuple(Defect(**each) for each in one["defects"]))
        for one in stated
    ]
