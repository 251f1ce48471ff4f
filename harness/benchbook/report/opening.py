"""Open the run that a page shows.

``./bench report`` and ``./bench site`` name the run of each page. A page that ``quarto render`` renders shows the
published run of its experiment, unless the environment names another one.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
from pathlib import Path

from benchbook.analyse import run as reading
from benchbook.analyse.run import RESULTS_VARIABLE, RUN_VARIABLE, Run
from benchbook.declare.catalogue import Catalogue, root
from benchbook.errors import RequestError
from benchbook.record import contributed, manifest
from benchbook.record.opened import opened
from benchbook.report.table import QUARTO_VARIABLE

kept = contextlib.ExitStack()
"""Temporary results folders of this process, removed when it ends."""
atexit.register(kept.close)


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


@functools.cache
def shared(results: Path, run_id: str) -> Run:
    """Return a run for all pages of this process, so that it is read and judged once, over one connection."""
    run = reading.open_run(results, run_id)
    kept.enter_context(run.opened())
    return run


PROJECT = "the project's machine"
"""Name of the machine of the published run; those of other machines are names of folders."""


def machines(run: Run) -> tuple[dict[str, Run], dict[str, str]]:
    """Return machine → run of a published run and of those that other machines contributed; and machine → problem.

    For any other run, it is the only one.
    """
    place = root() / "reports" / "data" / run.experiment
    if not contributed.folders(place) or manifest.checked(place, others=True).run_id != run.run_id:
        return {PROJECT: run}, {}
    runs, problems = {PROJECT: run}, {}
    for export in contributed.checked(place)[0]:
        if export.against_itself:
            continue
        try:
            found = kept.enter_context(opened(run.results, str(export.folder)))
            runs[export.folder.name] = shared(found.results, export.run_id)
        except RequestError as error:
            problems[export.folder.name] = error.message
    return runs, problems


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
