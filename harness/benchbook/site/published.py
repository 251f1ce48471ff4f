"""Published runs of a checkout, in ``reports/data``: write one, list them, open them for the pages."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import RequestError
from benchbook.host import temporary
from benchbook.record import contributed, export, manifest
from benchbook.record import opened as opening
from benchbook.record.folder import Say, tell
from benchbook.record.manifest import Export
from benchbook.report.charts.telemetry import PANELS

if TYPE_CHECKING:
    from benchbook.analyse.run import Run

DATA = Path("reports") / "data"
Published = Export
results = opening.results_of


def publish(results: Path, run_id: str, data: Path, say: Say = tell, machine: str | None = None) -> Path:
    """Write the published form of a run below ``data``, with the telemetry that charts draw; return its folder.

    ``machine`` names the machine of a run that is contributed to those of the project.
    """
    drawn = [(panel.scope, metric) for panel in PANELS for metric in panel.metrics]
    return export.publish_run(results, run_id, data, drawn, say, machine)


def all_published(root: Path) -> list[Export]:
    """Return the published runs under ``root``, by folder; raise RequestError if one is damaged or too new."""
    return [
        manifest.checked(path.parent, others=True)
        for path in sorted((root / DATA).glob(f"*/{manifest.FILE}"))
    ]


def of_other_machines(root: Path) -> tuple[list[Export], list[RequestError]]:
    """Return the runs that other machines contributed, and an error for each folder that is unusable."""
    found: list[Export] = []
    problems: list[RequestError] = []
    for place in sorted((root / DATA).glob("*")):
        exports, errors = contributed.checked(place)
        found += exports
        problems += errors
    return found, problems


def machines(root: Path, experiment: str) -> int:
    """Return the number of machines with a usable published run of an experiment."""
    return 1 + sum(not one.against_itself for one in contributed.checked(root / DATA / experiment)[0])


def opened(root: Path) -> list[Run]:
    """Return the published runs that answer a question, from the results folder that the site's rendering names.

    Without one, as in ``quarto render``, they are opened from their folders. Pages that are rendered in one process
    share them, so each run is judged once.
    """
    from benchbook.analyse.run import RESULTS_VARIABLE

    return list(_opened(root, os.environ.get(RESULTS_VARIABLE, "")))


@functools.cache
def _opened(root: Path, given: str) -> tuple[Run, ...]:
    from benchbook.report.opening import kept, shared

    found = all_published(root)
    if given:
        folder = Path(given)
    else:
        folder = Path(kept.enter_context(temporary.folder("published")))
        results(found, folder)
    return tuple(shared(folder, one.run_id) for one in found if not one.against_itself)
