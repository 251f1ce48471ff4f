"""The checkout that Benchbook works in, and the experiments in it."""

from __future__ import annotations

import os
from pathlib import Path


def root() -> Path:
    """Return the folder that holds systems, storage, datasets and experiments.

    ``BENCHBOOK_ROOT`` names it (``./bench`` and the flake set it); without it, the checkout that holds this package.
    """
    given = os.environ.get("BENCHBOOK_ROOT")
    return Path(given) if given else Path(__file__).resolve().parents[3]


def experiments(folder: Path) -> list[str]:
    """Return the names of the experiments of a checkout."""
    return sorted(path.parent.name for path in folder.glob("experiments/*/experiment.toml"))
