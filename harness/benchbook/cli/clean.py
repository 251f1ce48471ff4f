"""``bench clean``: remove old runs, cached programs, and Python environments of systems, which Benchbook wrote."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from benchbook.cli import table
from benchbook.cli.carry_out import ask
from benchbook.cli.options import DEFAULT_RESULTS, Results, optional
from benchbook.errors import RequestError, unknown
from benchbook.errors import command as typed
from benchbook.host import guarded
from benchbook.host.filesystem import cache_folder
from benchbook.record import database, journal, runs, seal
from benchbook.record.folder import PLAN_FILE
from benchbook.run.engine import lock_run
from benchbook.run.scratch import neighbours
from benchbook.storage.driver import allocated

KEPT_RUNS = 3
CACHED = ("systems", "images", "clients", "tools")
"""Folders of the cache whose entries Benchbook builds or fetches again when it needs them."""
ENTRY = re.compile(r"([a-z0-9][a-z0-9._-]*-)?[0-9a-f]{16}", re.ASCII)
"""Names of entries of the cache: a name, and a digest of what they were made of."""
REMOVED = re.compile(rf"\.({ENTRY.pattern})\.removed", re.ASCII)
"""Name of an entry while it is removed: half an entry must not be taken for a whole one."""
ENVIRONMENT = "environment.json"
"""File of an entry that is a Python environment (``provision/environment.py``)."""
WRITTEN = re.compile(
    r"\.?(plan|run|seal)\.json(\.\d+\.part)?|journal\.jsonl|lock|declared|queries|corrupt|report(-[a-z]+)?\.(html|csv|pdf|ipynb)",
    re.ASCII,
)
"""What Benchbook writes into the folder of a run, beside its trials."""
TRIAL = re.compile(r"\d{4,}", re.ASCII)


@dataclass(frozen=True)
class Removable:
    """Something that Benchbook wrote and that may be removed."""

    kind: str
    """``runs``, ``caches`` or ``environments``."""
    path: Path
    bytes: int


def command(
    what: Annotated[
        str, typer.Argument(metavar=optional("WHAT"), help="runs, caches or environments; all by default.")
    ] = "all",
    keep: Annotated[
        int,
        typer.Option(
            "--keep", metavar="N", min=0, help="Latest runs to keep of each experiment and profile."
        ),
    ] = KEPT_RUNS,
    kept: Annotated[
        list[str] | None,
        typer.Option(
            "--except",
            metavar="RUN",
            help="Keep this run, however old: its id or the beginning of it, or an experiment (its latest run)."
            " Repeatable.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove them without asking.")] = False,
    results: Results = DEFAULT_RESULTS,
) -> None:
    """Remove old runs, cached programs and environments of systems.

    Shows what would be removed and its size, then asks. Of runs, only finished ones that you began on this machine
    are removed; verdicts rest on the runs that are left. Programs and environments are built or fetched again when a
    run needs them; they stay while a run is in progress.
    """
    if what not in (*KINDS, "all"):
        raise unknown("kind of files", what, [*KINDS, "all"])
    named = {runs.find(results, name).path for name in kept or ()}
    found = [
        one
        for kind, find in KINDS.items() if what in (kind, "all")
        for one in find(results, keep) if one.path not in named
    ]  # fmt: skip
    if not found:
        sizes = {"results": results, "cached programs and environments": cache_folder(os.environ)}
        sized = [
            f"{path} ({name}) has {_megabytes(allocated(path))} MB"
            for name, path in sizes.items() if path.is_dir()
        ]  # fmt: skip
        print(f"There is nothing to remove. {'; '.join(sized)}{'.' if sized else ''}".rstrip())
        return
    table.show(
        [{"what": one.kind, "path": one.path, "MB": _megabytes(one.bytes)} for one in found], as_json=False
    )
    if running := neighbours() if any(one.kind != "runs" for one in found) else []:
        raise RequestError(
            f"{running[0].run_id} (pid {running[0].pid}) is in progress, and it may use the cached programs.",
            f"Clean when it has ended, or clean old runs alone: `{typed('clean runs')}`.",
        )
    total = _megabytes(sum(one.bytes for one in found))
    ask(
        f"This removes the content of these folders, {total} MB.",
        yes,
        refused="Nothing was removed.",
    )
    removed = 0
    try:
        for one in found:
            left = _remove_run(one.path) if one.kind == "runs" else _remove_entry(one.path)
            removed += one.bytes - (allocated(one.path) if left else 0)
            if left:
                print(f"{one.path} stays, because Benchbook did not write {', '.join(left[:5])}.")
    finally:
        if any(one.kind == "runs" for one in found):
            database.rebuild(results)
    print(f"Removed {_megabytes(removed)} MB.")


def old_runs(results: Path, keep: int) -> Iterator[Removable]:
    """Yield the finished runs of this user that are not among the latest ``keep`` of their experiment and profile."""
    groups: dict[tuple[str, str, bool], list[runs.Run]] = defaultdict(list)
    for run in runs.all_runs(results) if results.is_dir() else ():
        if run.finished_at is not None and run.whole and not run.path.is_symlink() and seal.is_own(run.path):
            groups[run.experiment, run.profile, run.against_itself].append(run)
    for of_one in groups.values():
        for run in of_one[: max(0, len(of_one) - keep)]:
            yield Removable("runs", run.path, allocated(run.path))


def cached(environments: bool) -> Callable[[Path, int], Iterator[Removable]]:
    """Return what finds the entries of the cache that are Python environments, or those that are not."""

    def find(*_: object) -> Iterator[Removable]:
        cache = cache_folder(os.environ)
        for name in CACHED:
            folder = cache / name
            for path in sorted(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else ():
                if _is_entry(path) and (path / ENVIRONMENT).is_file() == environments:
                    yield Removable("environments" if environments else "caches", path, allocated(path))

    return find


KINDS: dict[str, Callable[[Path, int], Iterator[Removable]]] = {
    "runs": old_runs,
    "caches": cached(environments=False),
    "environments": cached(environments=True),
}


def _is_entry(path: Path) -> bool:
    """Return whether Benchbook wrote an entry of the cache: the lock that it filled it under lies beside it."""
    begun = REMOVED.fullmatch(path.name)
    name = begun[1] if begun else path.name
    named = ENTRY.fullmatch(name) and path.is_dir() and not path.is_symlink()
    return bool(named) and path.with_name(f".{name}.lock").is_file()


def _remove_entry(path: Path) -> list[str]:
    """Remove an entry of the cache; its lock stays, because another harness may wait for it."""
    hidden = path if REMOVED.fullmatch(path.name) else path.with_name(f".{path.name}.removed")
    if hidden != path:
        guarded.remove_tree(hidden)
        path.rename(hidden)
    guarded.remove_tree(hidden)
    return _left(hidden)


def _remove_run(path: Path) -> list[str]:
    """Remove what Benchbook wrote of a run, and its folder if nothing else is left; return the names that are left.

    The plan goes first: a run of which only the trials were removed would be resumed.
    """
    trials = path / "trials"
    with lock_run(path, path.name):
        for one in sorted(path.iterdir(), key=lambda held: held.name != PLAN_FILE):
            if WRITTEN.fullmatch(one.name):
                _remove(one)
        for trial in trials.iterdir() if trials.is_dir() and not trials.is_symlink() else ():
            if TRIAL.fullmatch(trial.name):
                _remove(trial)
        journal.forget(path)
    for folder in (trials, path):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    return _left(path)


def _left(path: Path) -> list[str]:
    """Return the names of the files that are left in a folder."""
    found = path.rglob("*") if path.exists() else ()
    return sorted(str(one.relative_to(path)) for one in found if not one.is_dir())


def _remove(path: Path) -> None:
    """Remove a file, or a folder with all but what is mounted there, such as a bucket that a killed run left."""
    if path.is_dir() and not path.is_symlink():
        guarded.remove_tree(path)
    else:
        path.unlink()


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f}"
