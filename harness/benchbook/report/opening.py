"""Open the run that a page shows.

``./bench report`` and ``./bench site`` name the run of each page. A page that ``quarto render`` renders shows the
published run of its experiment, unless the environment names another one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from benchbook.analyse import beside
from benchbook.analyse import run as reading
from benchbook.analyse.beside import kept, shared
from benchbook.analyse.run import RESULTS_VARIABLE, RUN_VARIABLE, Run
from benchbook.declare.catalogue import Catalogue, root
from benchbook.errors import RequestError
from benchbook.host import processor
from benchbook.record import ledger
from benchbook.record.ledger import Entry
from benchbook.record.opened import opened
from benchbook.report.table import QUARTO_VARIABLE


def open_run() -> Run:
    """Return the run that the page shows; raise RequestError if it is a run of another experiment."""
    slug = Path(os.environ.get(QUARTO_VARIABLE, "")).stem
    if not is_experiment(slug):
        results, name = os.environ.get(RESULTS_VARIABLE), os.environ.get(RUN_VARIABLE)
        return shared(Path(results), name) if results and name else reading.open_run()
    run = shared(*place(slug))
    if run.experiment != slug:
        raise RequestError(
            f"{slug}.qmd shows runs of {slug}, but run {run.run_id} is a run of {run.experiment}.",
            f"Name a run of {slug} in {RUN_VARIABLE}, or unset it to show the published run.",
        )
    return run


def entries(run: Run) -> list[Entry]:
    """Return the runs that the ledger has of an experiment, oldest first; none for a run that is not published."""
    held, _ = ledger.entries(root() / ledger.DATA / run.experiment)
    return held if any(one.export.run_id == run.run_id for one in held) else []


def in_ledger(run: Run, entry: Entry) -> Run:
    """Return the run of an entry of the ledger; ``run`` itself if the entry is its own."""
    return beside.published(entry.export, run)


def processors(run: Run) -> dict[str, Run]:
    """Return processor → a published run on it: this run first, then the latest on each other processor.

    A run that is not published is the only one.
    """
    groups = ledger.by_processor(entries(run))
    own = [one for one in groups if any(entry.export.run_id == run.run_id for entry in one)]
    if not own:
        return {"": run}
    chosen = [*own, *(one for one in groups if one not in own)]
    latest = [_latest(group, run) for group in chosen]
    return {name: in_ledger(run, one) for name, one in zip(names(latest), latest, strict=True)}


def _latest(group: list[Entry], run: Run) -> Entry:
    """Return the entry of the run itself, else the latest of its profile, else the latest."""
    own = [one for one in group if one.export.run_id == run.run_id]
    alike = [one for one in group if one.export.profile == run.profile]
    return (own or alike or group)[-1]


def names(held: Sequence[Entry]) -> list[str]:
    """Return a short name for the processor of each entry, with that of the machine if its contributor gave one."""
    short = processor.names([one.processor for one in held])
    return [
        f"{one.export.machine} ({name})" if one.export.machine else name
        for one, name in zip(held, short, strict=True)
    ]


def is_experiment(slug: str) -> bool:
    """Return whether the page of this name shows a run of one experiment."""
    return slug in Catalogue().names("experiment")


def place(slug: str) -> tuple[Path, str]:
    """Return a results folder, and the name of the run in it that the page of an experiment shows.

    The results folder and the run are those of the environment. With the folder alone, it is the latest run of the
    experiment; without both, the published run.
    """
    results, name = os.environ.get(RESULTS_VARIABLE), os.environ.get(RUN_VARIABLE)
    if results and name:
        return Path(results), name
    published = str(root() / "reports" / "data" / slug)
    folder = Path(results) if results else root() / "results"
    found = kept.enter_context(opened(folder, name or (slug if results else published), answering=True))
    return found.results, found.run_id
