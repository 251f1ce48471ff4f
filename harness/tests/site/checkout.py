"""A checkout for a test: the declarations of this one, and reports with a published synthetic run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from benchbook.record.manifest import Export
from benchbook.site import published
from tests.record import synthetic_run

ROOT = Path(__file__).parents[3]


def every(root: Path = ROOT) -> list[Export]:
    """Return all runs of a checkout's ledger."""
    return [one.export for held in published.ledgers(root)[0].values() for one in held]


def shown(root: Path = ROOT) -> list[Export]:
    """Return the run that the page of each experiment shows."""
    return published.shown(published.ledgers(root)[0])


def make(where: Path, **options: Any) -> Path:
    """Make the checkout in ``where`` and publish a synthetic run of quickstart into it; return its root."""
    root = where / "checkout"
    (root / "reports").mkdir(parents=True)
    for name in ("systems", "storage", "datasets", "experiments"):
        (root / name).symlink_to(ROOT / name, target_is_directory=True)
    for file in (ROOT / "reports").iterdir():
        if file.is_file():
            shutil.copyfile(file, root / "reports" / file.name)
    if options.pop("empty", False):
        return root
    run_id = synthetic_run.write(where / "results", **options)
    published.publish(where / "results", run_id, root / "reports" / "data")
    return root
