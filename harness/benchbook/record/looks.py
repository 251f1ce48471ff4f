"""The looks at a run that continues until its claims are decided: a list in ``run.json`` that only grows.

A look states the blocks that were judged, its level, the verdicts, and the cells that later blocks run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchbook.record.folder import RUN_FILE, read_object, write_json

Look = dict[str, Any]


def read(run: Path) -> list[Look]:
    """Return the looks of a run's folder in order."""
    path = run / RUN_FILE
    return list(read_object(path).get("looks") or []) if path.exists() else []


def append(run: Path, look: Look) -> None:
    """Add a look: it is on disk as a whole, or not at all."""
    held = read_object(run / RUN_FILE)
    write_json(run / RUN_FILE, {**held, "looks": [*(held.get("looks") or []), look]})


def stopped(looks: Sequence[Look]) -> str | None:
    """Return why the run ended; None if it continues."""
    return looks[-1]["stopped"] if looks else None


def is_needed(block: int, cell: str, looks: Iterable[Look]) -> bool:
    """Return whether the looks before a block (counted from 0) left a trial of this cell in it.

    >>> is_needed(3, "a", [{"block": 3, "cells": ["b"]}]), is_needed(2, "a", [{"block": 3, "cells": []}])
    (False, True)
    """
    return all(cell in look["cells"] for look in looks if look["block"] <= block)


def needed(planned: list[dict[str, Any]], looks: Sequence[Look]) -> list[dict[str, Any]]:
    """Return the planned trials that the looks left in the run."""
    return [one for one in planned if is_needed(one["block"], one["cell"], looks)] if looks else planned
