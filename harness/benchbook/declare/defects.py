"""Known defects of the published benchmarks, from ``defects.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("defects.toml")


@dataclass(frozen=True)
class Publication:
    """A published benchmark and its known defects."""

    experiment: str
    title: str
    defects: tuple[tuple[str, str], ...]
    """(defect, how we know it)."""


def publications() -> list[Publication]:
    """Return the publications in the order of the file."""
    stated = tomllib.loads(FILE.read_text(encoding="utf-8"))["publications"]
    return [
        Publication(
            one["experiment"], one["title"], tuple((each["defect"], each["known"]) for each in one["defects"])
        )
        for one in stated
    ]
