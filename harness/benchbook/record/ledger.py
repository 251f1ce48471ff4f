"""The ledger: every published run of every experiment, in ``reports/data/<experiment>/<run>/``.

A run is added and never replaced or deleted, so that no verdict can be chosen by running again. A run that proves
defective is named in ``reports/data/<experiment>/withdrawn.toml`` with the reason; it stays, and pages say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from benchbook.declare.checkout import experiments
from benchbook.declare.toml import Model, Text, read
from benchbook.errors import RequestError, command, nearest
from benchbook.host import processor
from benchbook.host.processor import Processor
from benchbook.record import folder, foreign, manifest
from benchbook.record.folder import Say
from benchbook.record.manifest import Export

DATA = Path("reports") / "data"
WITHDRAWN = "withdrawn.toml"
LEFT_OUT = "left-out.toml"
"""Why runs were made and not published; in the folder of their experiment, in the form of ``WITHDRAWN``."""


class Withdrawal(Model):
    """Why a published run does not count."""

    id: Text
    """Id of the run."""
    reason: Text
    """What is defective, in a sentence for readers."""
    date: date
    by: Text
    """Who withdrew it, such as "Benchbook"."""


class _Withdrawals(Model):
    run: tuple[Withdrawal, ...] = ()


@dataclass(frozen=True)
class Earlier:
    """A run that a published run names as an earlier one of its experiment."""

    run_id: str
    profile: str
    trials: int
    against_itself: bool

    @property
    def date(self) -> str:
        """The day on which it began, from its id (ISO 8601)."""
        day = self.run_id.rpartition("-")[0].rpartition("-")[2]
        return f"{day[:4]}-{day[4:6]}-{day[6:8]}"


@dataclass(frozen=True)
class Entry:
    """A published run."""

    export: Export
    created_at: str
    """ISO 8601."""
    processor: Processor | None
    withdrawal: Withdrawal | None
    earlier: tuple[Earlier, ...] = ()
    """The complete runs of its experiment that were in the same results folder when it began."""

    @property
    def answers(self) -> bool:
        """True if it answers the question of its experiment: it is no A/A run and was not withdrawn."""
        return not self.export.against_itself and self.withdrawal is None


def folders(where: Path) -> list[Path]:
    """Return the folders of runs in the folder of an experiment, by name, whatever they hold."""
    if not where.is_dir():
        return []
    return sorted(path for path in where.iterdir() if path.is_dir() and not path.name.startswith("."))


def entries(where: Path) -> tuple[list[Entry], list[RequestError]]:
    """Return the runs of an experiment's folder, oldest first, and an error for each contributed run that is unusable.

    Each is checked as an import is: digests, schema, links. Raises RequestError if a run of the project is unusable,
    because another one would be shown in its place, and if ``withdrawn.toml`` is invalid or names an unknown run.
    """
    found: list[Entry] = []
    problems: list[RequestError] = []
    require_no_git_files(where)
    withdrawn = _stated(where / WITHDRAWN)
    for path in folders(where):
        try:
            found.append(_entry(path, withdrawn))
        except RequestError as error:
            message = error.message if str(path) in error.message else f"{path}: {error.message}"
            problem = RequestError(message, error.hint)
            if not _is_contributed(path):
                raise problem from None
            problems.append(problem)
    if unknown := sorted(set(withdrawn) - {path.name for path in folders(where)}):
        guess = nearest(unknown[0], [path.name for path in folders(where)])
        raise RequestError(
            f'{where / WITHDRAWN}: there is no run "{unknown[0]}" in this folder.',
            f'Did you mean "{guess}"?' if guess else "Name a folder that lies beside the file.",
        )
    return sorted(found, key=lambda one: (one.created_at, one.export.run_id)), problems


def unpublished(where: Path, held: Iterable[Entry]) -> dict[Earlier, Withdrawal | None]:
    """Return the complete runs that published runs of an experiment's folder name and that are not published.

    Each has the reason that ``LEFT_OUT`` states, or None. Runs that were contributed name none of the project's.
    """
    entries = list(held)
    known = {one.export.run_id for one in entries}
    stated = left_out(where)
    found = {
        one.run_id: one
        for entry in entries
        if entry.export.machine is None
        for one in entry.earlier
        if one.run_id not in known
    }
    return {
        found[name]: stated.get(name) for name in sorted(found, key=lambda name: (found[name].date, name))
    }


def left_out(where: Path) -> dict[str, Withdrawal]:
    """Return the id of each run that the folder of an experiment leaves out → why."""
    return _stated(where / LEFT_OUT)


def require_no_git_files(where: Path) -> None:
    """Raise RequestError for a file of Git beside runs: ``.gitattributes`` there changes them in the next clone."""
    if more := sorted(where.glob(".git*")):
        raise RequestError(
            f"{more[0]}: a file of Git among published runs would change them in other clones.",
            "Remove it. If it came with a run that somebody contributed, do not use the run.",
        )


def _is_contributed(path: Path) -> bool:
    try:
        return "machine" in folder.read_object(path / manifest.FILE)
    except ValueError:
        return False


def _stated(file: Path) -> dict[str, Withdrawal]:
    return {one.id: one for one in read(file, _Withdrawals).run} if file.exists() else {}


def _entry(path: Path, withdrawn: dict[str, Withdrawal]) -> Entry:
    manifest.require_published(manifest.read(path))  # before anything is read whose size a sender chose
    export = manifest.checked(path)
    if export.run_id != path.name:
        raise RequestError(
            f"{path} holds the run {export.run_id}, not the run that its name says.",
            f"Rename it to {path.with_name(export.run_id)}",
        )
    if export.experiment != path.parent.name:
        raise RequestError(
            f"{path} is a run of {export.experiment}, not of {path.parent.name}.",
            f"Move it to {path.parents[1] / export.experiment / path.name}",
        )
    if export.machine is not None and export.experiment not in experiments():
        raise RequestError(
            f"{path} is a contributed run of {export.experiment}, an experiment that this project does not declare.",
            "A contributed run is a run of an experiment of the project.",
        )
    try:
        _require_kind(export)
        facts = folder.read_object(path / folder.RUN_FILE)
        made = facts["created_at"]
        foreign.require_times(facts)
        cpu = (facts.get("host") or {}).get("cpu") or {}
        earlier = tuple(_earlier(facts.get("earlier_runs") or []))
        return Entry(export, str(made), processor.of(cpu), withdrawn.get(export.run_id), earlier)
    except (ValueError, KeyError, AttributeError, TypeError, OverflowError) as error:
        raise RequestError(
            f"{path / folder.RUN_FILE} is not the description of a run: {error}.",
            "Copy the run again from its source.",
        ) from error


def _earlier(held: list[dict[str, Any]]) -> Iterator[Earlier]:
    for one in held:
        if one["finished"]:
            yield Earlier(
                str(one["run_id"]), str(one["profile"]), int(one["trials"]), bool(one["against_itself"])
            )


def _require_kind(export: Export) -> None:
    """Raise ValueError if the manifest says that a run is an A/A run and its plan does not, or the other way round."""
    path = export.folder / folder.PLAN_FILE
    planned = (folder.read_object(path) if path.exists() else {}).get("trials") or [None]
    if export.against_itself != manifest.has_label(planned[0]):
        raise ValueError(
            f"{manifest.FILE} says against_itself: {export.against_itself}, and the plan does not"
        )


def shown(held: Iterable[Entry]) -> Entry | None:
    """Return the run that the page of an experiment shows: the latest of the project's that counts, by its date alone.

    Without one, it is the latest contributed run that counts; None if there is none either.
    """
    answering = [one for one in held if one.answers]
    of_project = [one for one in answering if one.export.machine is None]
    return next(iter(reversed(of_project or answering)), None)


def resolve(where: Path, say: Say) -> Path:
    """Return the folder of a run: ``where`` itself, or the run to show if it is the folder of an experiment."""
    if not _is_ledger(where):
        return where
    held, problems = entries(where)
    one = shown(held)
    if one is None:
        raise (
            problems[0]
            if problems
            else RequestError(
                f"None of the {len(held)} runs in {where} answers the question of its experiment.",
                f"Name the folder of one of them, such as {held[-1].export.folder}",
            )
        )
    if len(held) > 1:
        say(f"{where} has {len(held)} runs; this is the latest that counts: {one.export.run_id}.")
    return one.export.folder


def _is_ledger(where: Path) -> bool:
    """Return whether a folder holds the runs of an experiment: it has the name of the experiment."""
    for path in [] if (where / manifest.FILE).exists() else folders(where):
        try:
            return manifest.read(path).experiment == where.resolve().name
        except RequestError:
            continue
    return False


def is_place(export: Export) -> bool:
    """Return whether an exported run lies in the folder that a ledger has for it."""
    where = export.folder.resolve()
    return (where.parent.name, where.name) == (export.experiment, export.run_id)


def published(root: Path, experiment: str) -> bool:
    """Return whether a checkout has a published run of an experiment."""
    return any((path / manifest.FILE).is_file() for path in folders(root / DATA / experiment))


def require_new(place: Path) -> None:
    """Raise RequestError if a run is already in the ledger, where nothing is replaced."""
    if place.exists():
        raise RequestError(
            f"{place} exists: this run is published already, and a published run is never replaced.",
            f"To publish another run, make one first: {command(f'run {place.parent.name}')}. To say that this one is "
            f"defective, name it in {place.with_name(WITHDRAWN)}.",
        )


def by_processor(held: Iterable[Entry]) -> list[list[Entry]]:
    """Return the runs that count, in groups of one processor each; a run of an unknown processor is a group alone."""
    return processor.groups((one for one in held if one.answers), lambda one: one.processor)
