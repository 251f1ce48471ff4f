"""The runs that count beside a run: together they show what holds on its processor, and on others.

These are the published runs of the project, of the same experiment and profile, and for a run that was made here also
the other complete runs that were made here. Runs that somebody sent (imported or contributed) move no verdict but their
own: whoever made them chose all that they say. All others count; ``absent`` names those that are left out.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from benchbook.analyse import learned
from benchbook.analyse import run as reading
from benchbook.analyse.run import Run
from benchbook.declare import names
from benchbook.declare.checkout import is_apart, is_installed, root
from benchbook.host import processor
from benchbook.record import journal, ledger, origin, seal
from benchbook.record.manifest import Export
from benchbook.record.opened import opened

kept = contextlib.ExitStack()
"""Temporary results folders of this process, removed when it ends."""
atexit.register(kept.close)

Absence = Literal["withdrawn", "not learned", "removed", "elsewhere", "earlier", "stopped"]
"""Why a run counts for no verdict: it was withdrawn; it is published, and ``learned`` does not know it;
``learned`` knows it, and it is not published any more, or not in this project; a run names it as a complete earlier
one, or as one that was not complete, and it is neither published nor a complete run of its maker in the results
folder."""
Groups = tuple[tuple[Run, ...], ...]
"""Runs, in groups of one processor each; the first group is that of the run itself, which comes first."""


@functools.cache
def of(run: Run) -> Groups:
    """Return a run and those that count beside it; a run of an unknown processor is a group alone."""
    return tuple(map(tuple, processor.groups((run, *_others(run)), lambda one: one.processor)))


def published(export: Export, run: Run) -> Run:
    """Return the run of an export of the ledger, as its page needs it beside ``run``, which may be the same.

    A results folder into which the ledger was opened holds it already. In that of a user, its name shows nothing.
    """
    if export.run_id == run.run_id:
        return run
    if origin.of(_place(run, export.run_id)) not in (None, origin.OWN):
        return shared(run.results, export.run_id)
    return _of_folder(export.folder)


def published_ids(run: Run) -> set[str]:
    """Return the ids of the published runs of the project that answer the question of the same experiment."""
    return {one.run_id for one in _counted(run)}


@functools.cache
def absent(run: Run) -> Mapping[Absence, tuple[str, ...]]:
    """Return the other runs of the experiment that should count and do not, A/A runs included, by the reason.

    Readers see them, because a verdict may change if somebody leaves runs out.
    """
    entries, _ = ledger.entries(root() / ledger.DATA / run.experiment)
    of_project = [one for one in entries if one.export.machine is None and one.export.run_id != run.run_id]
    known, once, built_in = (
        {name for name in ids if names.is_planned_id(name, run.experiment)}
        for ids in (learned.runs(), learned.once_published(root()), learned.built_in_runs())
    )
    held = {one.export.run_id for one in of_project} | {run.run_id}
    listed = {one.export.run_id for one in of_project} | known | set(_own(run))
    earlier = {
        str(one["run_id"]): bool(one["finished"])
        for one in run.fact_list("earlier_runs")
        if one["profile"] == run.profile and one["trials"]
        and names.is_planned_id(one["run_id"], run.experiment) and one["run_id"] not in listed
    }  # fmt: skip
    found: dict[Absence, list[str]] = {
        "withdrawn": [one.export.run_id for one in of_project if one.withdrawal],
        "not learned": [
            one.export.run_id for one in of_project if not one.withdrawal and one.export.run_id not in known
        ],
        "removed": sorted(once - held),
        "elsewhere": sorted(built_in - held)
        if run.run_id in built_in and (is_apart() or is_installed())
        else [],
        "earlier": [name for name, finished in earlier.items() if finished],
        "stopped": [name for name, finished in earlier.items() if not finished],
    }
    return {why: tuple(ids) for why, ids in found.items() if ids}


@functools.cache
def altered(run: Run) -> Mapping[str, tuple[journal.Altered, ...]]:
    """Return id → the trials that are no longer as they ended, of a run and those of its maker that count beside it.

    Only the journals of runs that this user began here can show that.
    """
    own = {name: _place(run, name) for name in dict.fromkeys((run.run_id, *_own(run)))}
    found = {
        name: journal.altered(place)
        for name, place in own.items()
        if seal.is_own(place) or journal.is_own(place)
    }
    return {name: tuple(held) for name, held in found.items() if held}


@functools.cache
def _counted(run: Run) -> list[Export]:
    """Return the published runs of the project that count for a run of the same experiment, and the run itself."""
    entries, _ = ledger.entries(root() / ledger.DATA / run.experiment)
    known = learned.runs() | {run.run_id}
    return [
        one.export
        for one in entries
        if one.answers and one.export.machine is None and one.export.run_id in known
    ]


@functools.cache
def _of_folder(folder: Path) -> Run:
    found = kept.enter_context(opened(Path(), str(folder)))
    return shared(found.results, found.run_id)


@functools.cache
def shared(results: Path, run_id: str) -> Run:
    """Return a run for all pages of this process, so that it is read and judged once, over one connection."""
    run = reading.open_run(results, run_id)
    kept.enter_context(run.connected())
    return run


def _others(run: Run) -> Iterator[Run]:
    """Yield the other runs that count, each once, the published ones first."""
    seen = {run.run_id}
    for one in (*_of_project(run), *_made_here(run)):
        if one.run_id not in seen:
            seen.add(one.run_id)
            yield one


def _of_project(run: Run) -> Iterator[Run]:
    for export in _counted(run):
        if export.profile == run.profile:
            yield published(export, run)


def _made_here(run: Run) -> Iterable[Run]:
    """Return the other complete runs that were begun in this results folder, without A/A runs."""
    own = [Run(run.results, name) for name in _own(run) if name != run.run_id]
    return [one for one in own if not one.against_itself]


@functools.cache
def _own(run: Run) -> tuple[str, ...]:
    """Return the complete runs of the same experiment and profile that its maker began in its results folder."""
    if origin.of(_place(run, run.run_id)) != origin.OWN:
        return ()
    text = "SELECT run_id FROM runs WHERE experiment = ? AND profile = ? AND finished_at IS NOT NULL ORDER BY run_id"
    with run.connected() as connection:
        found = [str(row[0]) for row in connection.execute(text, [run.experiment, run.profile]).fetchall()]
    return tuple(name for name in found if origin.of(_place(run, name)) == origin.OWN)


def _place(run: Run, run_id: str) -> Path:
    return run.results / "runs" / run_id
