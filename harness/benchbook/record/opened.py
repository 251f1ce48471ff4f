"""Open runs wherever they are: in a results folder, or in a folder that was exported or published; import them.

RUN is a name in the results folder (``runs.find``) or, if it contains a ``/``, a folder. The runs of folders are
linked into a temporary results folder and entered into a database there; their own folders are never written to.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.declare import names
from benchbook.errors import RequestError, command
from benchbook.host import temporary
from benchbook.record import database, folder, ingest, ledger, manifest, origin, runs, seal
from benchbook.record.export import PARTS, SMALL_PARTS
from benchbook.record.folder import Say, tell
from benchbook.record.manifest import Export
from benchbook.record.tables import OF_TRIAL, SCHEMA_VERSION


@dataclass(frozen=True)
class Opened:
    """Runs that can be read, in the order of their names."""

    results: Path
    """A results folder whose database has these runs; it may be temporary."""
    run_ids: tuple[str, ...]
    temporary: bool

    @property
    def run_id(self) -> str:
        """The first run, of commands that take one."""
        return self.run_ids[0]


def is_folder(name: str) -> bool:
    """Return whether RUN names a folder.

    >>> is_folder("reports/data/quickstart"), is_folder("."), is_folder("quickstart")
    (True, True, False)
    """
    return "/" in name or name in (".", "..")


@contextlib.contextmanager
def opened(
    results: Path,
    *names: str,
    say: Say = tell,
    answering: bool = False,
    floors: bool = True,
    from_trials: bool = False,
) -> Iterator[Opened]:
    """Open the runs that ``names`` mean and bring their database up to date, for the length of a ``with`` block.

    With ``floors``, the A/A runs of the same experiments come along, because verdicts use their noise floor: those of
    a results folder, and those of the same machine beside a run in a ledger. ``answering`` is passed to ``runs.find``.
    With ``from_trials``, a folder that has trials is read from them again, not from its tables.
    Raises RequestError if there is no such run, or an export is damaged or was written by a newer Benchbook.
    """
    places = [_place(results, name, say, answering, floors) for name in names]
    homes = {place.results for place in places}
    if len(homes) == 1 and (home := homes.pop()) is not None:
        database.catch_up(home, say)
        yield Opened(home, tuple(place.run_id for place in places), temporary=False)
        return
    with _staged(places, say, from_trials) as stage:
        yield Opened(stage, tuple(place.run_id for place in places), temporary=True)


@dataclass(frozen=True)
class _Place:
    """The place of a run: a results folder or, if that is None, an exported folder."""

    run_id: str
    results: Path | None
    folders: tuple[Path | Export, ...]
    """Its folder or export, and those of the A/A runs that come along."""


def _place(results: Path, name: str, say: Say, answering: bool, floors: bool) -> _Place:
    path = Path(name).resolve()
    home = _home(path) if is_folder(name) else results
    if home is not None:
        run = runs.find(home, path.name if is_folder(name) else name, say, answering=answering)
        others = runs.all_runs(home, say) if floors else []
        found = [one.path for one in others if one.against_itself and one.experiment == run.experiment]
        return _Place(run.run_id, home, (run.path, *(one for one in found if one != run.path)))
    path = ledger.resolve(path, say)
    export = manifest.checked(path)
    beside = _beside(path, say) if floors and ledger.is_place(export) else ()
    return _Place(export.run_id, None, (export, *(one for one in beside if _is_floor_of(one, export))))


@contextlib.contextmanager
def _staged(places: Sequence[_Place], say: Say, from_trials: bool = False) -> Iterator[Path]:
    """Link runs into a temporary results folder and fill its database; raise RequestError if a run does not enter."""
    with temporary.folder("opened") as scratch:
        stage = Path(scratch)
        found = {_folder(run): run for one in places for run in one.folders}
        origins = {link(run, stage, from_trials): where for where, run in found.items()}
        said: list[str] = []
        database.catch_up(stage, said.append)
        entered = database.run_ids(stage)
        reasons = _reasons(said, origins)
        for place in places:
            if place.run_id not in entered:
                raise _refused(_folder(place.folders[0]), reasons)
        for reason in reasons.values():
            say(f"{ingest.LEFT_OUT}{reason}")
        yield stage


def _home(path: Path) -> Path | None:
    """Return the results folder that a run's folder (as an absolute path) is in; None for any other folder."""
    home = path.parent.parent
    return home if path.parent.name == "runs" and path in folder.run_folders(home) else None


def _beside(path: Path, say: Say) -> Iterator[Export]:
    """Yield the exports next to a folder; report damaged ones and leave them out."""
    for file in sorted(path.parent.glob(f"*/{manifest.FILE}")):
        if file.parent != path:
            try:
                yield manifest.checked(file.parent)
            except RequestError as error:
                say(f"Left out: {error}")


def _is_floor_of(one: Export, export: Export) -> bool:
    return one.against_itself and origin.is_shared(one, export) and one.run_id != export.run_id


def _folder(run: Path | Export) -> Path:
    return run.folder if isinstance(run, Export) else run


def link(run: Path | Export, results: Path, from_trials: bool = False) -> Path:
    """Bring a run into a results folder and return its place there; nothing written there reaches the run.

    A run of a results folder is linked. An export, which may be of somebody else, is copied, and each file is compared
    with its digest meanwhile. Its tables are used if their version is current or it has no trials.
    """
    place = results / "runs" / (run.run_id if isinstance(run, Export) else run.name)
    if place.exists():
        return place
    place.mkdir(parents=True)
    if isinstance(run, Export):
        from_trials = run.has_trials and (from_trials or run.schema < SCHEMA_VERSION)
        kept = {*manifest.FOLDERS, folder.RUN_FILE, folder.PLAN_FILE} - {_left_out(from_trials)}
        manifest.copy(run, place, lambda name: name.partition("/")[0] in kept)
        origin.keep(place, run)
        return place
    for name in {*manifest.FOLDERS} - {_left_out(not folder.from_tables(run))}:
        if (run / name).is_dir():
            (place / name).symlink_to((run / name).resolve(), target_is_directory=True)
    for name in (folder.RUN_FILE, folder.PLAN_FILE, manifest.FILE, seal.FILE):
        if (run / name).is_file():
            shutil.copyfile(run / name, place / name)
    return place


def _left_out(from_trials: bool) -> str:
    return folder.TABLES_FOLDER if from_trials else folder.TRIALS_FOLDER


def results_of(exports: Sequence[Export], target: Path) -> Path:
    """Make a results folder with these exports in its database; return it. Raise RequestError if one does not enter."""
    target.mkdir(parents=True, exist_ok=True)
    origins = {link(export, target): export.folder for export in exports}
    said: list[str] = []
    database.rebuild(target, said.append, threads=1)
    entered = database.run_ids(target) if exports else set()
    for export in exports:
        if export.run_id not in entered:
            raise _refused(export.folder, _reasons(said, origins))
    return target


def _reasons(said: Sequence[str], origins: dict[Path, Path]) -> dict[Path, str]:
    """Return folder → why it did not enter the database, from the sentences about its place in a results folder."""
    return {
        origin: sentence.removeprefix(ingest.LEFT_OUT).replace(str(place), str(origin))
        for place, origin in origins.items()
        for sentence in said
        if str(place) in sentence
    }


def _refused(path: Path, reasons: dict[Path, str]) -> RequestError:
    return RequestError(
        reasons.get(path, f"{path} holds no run that can be entered into a database."),
        "Get the run again from a source that you trust.",
    )


def import_run(path: Path, results: Path, say: Say = tell) -> str:
    """Copy an exported or published run into ``results`` and enter it into the database; return its run_id.

    A run that exists with the same content is only entered again. Raises RequestError if the export is damaged or
    of a newer schema, or if another run with this id exists.
    """
    path = ledger.resolve(path, say)
    export = manifest.checked(path)
    if not names.is_planned_id(export.run_id, export.experiment):
        raise RequestError(
            f"{path}: {names.shown(export.run_id)} is not an id that a run gets ({export.experiment}-DATE-NUMBER)."
            " Beside your runs, it could be taken for one of them.",
            f"Look at it where it is: {command(f'claims {path}/')}",
        )
    with _staged([_Place(export.run_id, None, (export,))], lambda _: None, export.has_trials) as stage:
        _require_agreement(stage, export)  # it enters a database alone before anything of it is copied
    parts = PARTS if export.has_trials else (*SMALL_PARTS, folder.TABLES_FOLDER)
    place = results / "runs" / export.run_id
    if place.exists():
        files = {entry.file: entry.sha256 for entry in export.files if entry.file.split("/", 1)[0] in parts}
        if not export.has_trials:  # the manifest states how many trials the tables hold
            files[manifest.FILE] = hashlib.sha256(export.text).hexdigest()
        _require_same(place, files, path)
    else:
        _copy(export, place, parts)
    entered = database.enter(results, place, say)
    say(f"{export.run_id}: {entered} trials are in {results}.")
    return export.run_id


def _require_agreement(stage: Path, export: Export) -> None:
    """Raise RequestError if an export has trials and their rows are not those of its tables.

    Commands read the tables of an export and, once it is imported, its trials: two people would see two runs.
    """
    if not export.has_trials or export.schema != SCHEMA_VERSION:
        return
    with temporary.folder("tables") as scratch:
        link(export, Path(scratch))
        database.catch_up(Path(scratch), lambda _: None)
        sums = [_sums(results) for results in (stage, Path(scratch))]
    if differing := [name for name, found in sums[0].items() if found != sums[1][name]]:
        raise RequestError(
            f"{export.folder}: its tables and the files of its trials differ in {', '.join(differing)}.",
            "Get the run again from a source that you trust.",
        )


def _sums(results: Path) -> dict[str, tuple[Any, ...]]:
    """Return, for each table of trials, the number of its rows and a sum over them that their order does not change."""
    with database.open(results, read_only=True) as connection:
        return {
            table.name: connection.execute(
                f"SELECT count(*), sum(hash(one)::HUGEINT) FROM {table.name} one"  # noqa: S608 - a name of ours
            ).fetchone()
            or ()
            for table in OF_TRIAL
        }


def _copy(export: Export, place: Path, parts: Sequence[str]) -> None:
    """Copy the run's own files and rename the folder into place."""
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        manifest.copy(export, beside, lambda name: name.partition("/")[0] in parts)
        if export.has_trials:
            (beside / manifest.FILE).unlink()
        beside.rename(place)
    except OSError as error:
        raise folder.cannot_write(place, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _require_same(place: Path, files: dict[str, str], export: Path) -> None:
    """Raise RequestError if the run that exists is not the one of the export."""
    differing = [
        name
        for name, digest in files.items()
        if not (place / name).is_file() or manifest.sha256(place / name) != digest
    ]
    if differing:
        raise RequestError(
            f"{place} exists and differs from {export} in {differing[0]}"
            f"{f' and {len(differing) - 1} other files' if len(differing) > 1 else ''}. Nothing was changed.",
            "Import into another folder with --results DIR. An export without private names always differs from its"
            " original run.",
        )


def in_results(results: Path, name: str, say: Say = tell) -> tuple[Path, str]:
    """Return the results folder and the id of a run that can be continued; ``name`` may be its folder there.

    Raises RequestError for an exported run.
    """
    if not is_folder(name):
        return results, runs.resolve(results, name, say, empty=True)
    home = _home(Path(name).resolve())
    if home is None:
        raise RequestError(
            f"{name} is not in a results folder, so the run cannot be continued.",
            f"Start it again with `{command(f'rerun {name}')}`.",
        )
    return home, Path(name).resolve().name


def facts(results: Path, name: str, say: Say = tell) -> dict[str, Any]:
    """Return the ``run.json`` of the run that ``name`` means; for a run that was killed early, its ``plan.json``.

    A folder needs to hold no more than ``run.json``. Raises RequestError if there is no such run.
    """
    if not is_folder(name):
        path = runs.find(results, name, say, empty=True).path
    else:
        path = ledger.resolve(Path(name), say)
        if not (path / folder.RUN_FILE).is_file():
            raise RequestError(
                f"There is no {path / folder.RUN_FILE}, so {name} is not the folder of a run.",
                f"Name a folder that `{command('export')}` wrote; `{command('list runs')}` shows the runs here.",
            )
    file = next(file for name in (folder.RUN_FILE, folder.PLAN_FILE) if (file := path / name).exists())
    try:
        found = folder.read_object(file)
        names.require(found)
        return found
    except ValueError as error:
        raise RequestError(
            f"{file} is not the description of a run: {error}.", "Copy the folder again from its source."
        ) from error
