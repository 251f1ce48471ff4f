"""Scratch folders: where a living harness keeps the data of the system under test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchbook.systems.leftovers import identity


@contextmanager
def own_scratch(results: Path) -> Iterator[Path]:
    """Give this process a scratch folder of its own and remove it at the end."""
    folder = _folder(results) / _name(os.getpid())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep_scratch(results: Path) -> None:
    """Remove the scratch folders of harnesses that are gone."""
    for folder in _folder(results).glob("*"):
        pid = folder.name.partition("-")[0]
        if not pid.isdigit() or folder.name != _name(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _folder(results: Path) -> Path:
    return results / "scratch"


def _name(pid: int) -> str:
    """Return a name that no later process with the same number has."""
    started = identity(pid) or "gone"
    return f"{pid}-{started.rpartition(':')[2]}"
