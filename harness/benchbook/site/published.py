"""Published runs of a checkout, in ``reports/data``: write one, list them, open them for the pages."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import RequestError
from benchbook.host import temporary
from benchbook.record import export, ledger
from benchbook.record import opened as opening
from benchbook.record.folder import Say, tell
from benchbook.record.ledger import Entry
from benchbook.record.manifest import Export
from benchbook.report.charts.telemetry import PANELS

if TYPE_CHECKING:
    from benchbook.analyse.run import Run

DATA = ledger.DATA
Published = Export
results = opening.results_of


def publish(results: Path, run_id: str, data: Path, say: Say = tell, machine: str | None = None) -> Path:
    """Write the published form of a run below ``data``, with the telemetry that charts draw; return its folder.

    ``machine`` names the machine of a run that is contributed to those of the project. Raises RequestError if the page
    of its experiment was copied from another one.
    """
    from benchbook.record import runs
    from benchbook.report import render
    from benchbook.site import copied

    source = render.document(runs.find(results, run_id).experiment, data.parent)
    if source != render.DEFAULT:
        copied.require_own_text(data.parent.glob("*.qmd"), source)
    drawn = [(panel.scope, metric) for panel in PANELS for metric in panel.metrics]
    return export.publish_run(results, run_id, data, drawn, say, machine)


def ledgers(root: Path) -> tuple[dict[str, list[Entry]], list[RequestError]]:
    """Return experiment → its published runs, oldest first, and an error for each contributed run that is unusable.

    Raises RequestError if a run of the project is damaged or too new: without it, a page would show another one.
    """
    found: dict[str, list[Entry]] = {}
    problems: list[RequestError] = []
    ledger.require_no_git_files(root / DATA)
    for place in ledger.folders(root / DATA):
        held, errors = ledger.entries(place)
        if held:
            found[place.name] = held
        problems += errors
    return found, problems


def shown(found: Mapping[str, Sequence[Entry]]) -> list[Export]:
    """Return the run that each experiment's page shows, by experiment."""
    chosen = (ledger.shown(held) for held in found.values())
    return [one.export for one in chosen if one is not None]


def processors(root: Path, experiment: str) -> int:
    """Return the number of processors with a published run of an experiment that counts."""
    held, _ = ledger.entries(root / DATA / experiment)
    return len(ledger.by_processor(held))


def opened(root: Path) -> list[Run]:
    """Return the published runs that pages show, from the results folder that the site's rendering names.

    Without one, as in ``quarto render``, they are opened from their folders. Pages that are rendered in one process
    share them, so each run is judged once.
    """
    from benchbook.analyse.run import RESULTS_VARIABLE

    return list(_opened(root, os.environ.get(RESULTS_VARIABLE, "")))


@functools.cache
def _opened(root: Path, given: str) -> tuple[Run, ...]:
    from benchbook.analyse.beside import kept, shared

    found, _ = ledgers(root)
    if given:
        folder = Path(given)
    else:
        folder = Path(kept.enter_context(temporary.folder("published")))
        results([one.export for held in found.values() for one in held], folder)
    return tuple(shared(folder, one.run_id) for one in shown(found))
