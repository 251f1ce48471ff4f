"""The runs of a results folder: list them, find one by name, and see what it lacks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.declare import names
from benchbook.errors import RequestError, command, nearest
from benchbook.host import processor
from benchbook.host.processor import Processor
from benchbook.host.reading import readable
from benchbook.record import folder, foreign, looks, manifest, objects, seal
from benchbook.record.argv import parts
from benchbook.record.folder import Say, tell

LATEST = "latest"


@dataclass(frozen=True)
class Run:
    """One run, as its folder shows it. ``done`` counts its whole trials, ``planned`` the trials of its plan."""

    run_id: str
    experiment: str
    profile: str
    created_at: str
    """ISO 8601."""
    finished_at: str | None
    """ISO 8601; None for an unfinished run."""
    planned: int
    done: int
    path: Path
    against_itself: bool = False
    """True if it is an A/A run, which gives a noise floor and answers no question."""
    chosen: str = ""
    """Levels that were given with ``--set``, as on the command line; empty if none were, or if it is unknown."""
    sides: tuple[str, str] | None = None
    """Base and head of a gate, as they were named; None for another run."""

    @property
    def kind(self) -> str:
        """What the run is for: ``A/A`` for one whose setups are equal, also as two builds of one revision."""
        equal = self.sides is not None and self.sides[0] == self.sides[1]
        return "A/A" if self.against_itself or equal else "gate" if self.sides else "run"

    @property
    def whole(self) -> bool:
        """True if every trial of the plan exists."""
        return self.done >= self.planned


def all_runs(results: Path, say: Say = tell) -> list[Run]:
    """Return the runs of a results folder, oldest first; report corrupt ones by name and leave them out."""
    found = []
    for path in folder.run_folders(results):
        try:
            found.append(_read(path))
        except (ValueError, RequestError) as error:
            say(f"Left out: the plan of the run in {path} is damaged: {error}.")
    return sorted(found, key=lambda run: (run.created_at, run.run_id))


def _read(path: Path) -> Run:
    facts = {}
    for name in (folder.PLAN_FILE, folder.RUN_FILE):
        if (path / name).exists():
            facts.update(folder.read_object(path / name))
    names.require({**facts, "run_id": path.name})
    if not isinstance(facts.get("created_at"), str):
        raise ValueError('"created_at" is missing or not text')  # noqa: TRY004 - one error for all
    if (path / manifest.FILE).exists():
        foreign.require_times(facts)
    planned = facts.get("trials", [])
    if not isinstance(planned, list):
        raise ValueError('"trials" is not a list')  # noqa: TRY004
    planned = looks.needed(planned, facts.get("looks") or [])
    finished = facts.get("finished_at")
    return Run(
        run_id=path.name,
        experiment=facts["experiment"],
        profile=facts["profile"],
        created_at=facts["created_at"],
        finished_at=finished if isinstance(finished, str) else None,
        planned=len(planned),
        done=_done(path, len(planned)),
        path=path,
        against_itself=any(map(manifest.has_label, planned[:1])),
        chosen=chosen(facts.get("argv")),
        sides=_sides(facts.get("gate")),
    )


def _sides(gate: object) -> tuple[str, str] | None:
    """Return how a gate names base and head."""
    names = gate.get("names") if isinstance(gate, dict) else None
    return (str(names[0]), str(names[1])) if isinstance(names, list) and len(names) == 2 else None


def chosen(argv: object) -> str:
    """Return what the options ``--set`` of a command were.

    >>> chosen(["run", "x", "--set", "a=1,2", "--set=b=3"])
    'a=1,2 b=3'
    """
    words = [str(word) for word in argv] if isinstance(argv, list) else []
    return " ".join(one.value for one in parts(words, ["--set"]) if one.option)


def _done(path: Path, planned: int) -> int:
    if objects.is_elsewhere(path):
        return planned  # another machine carries it out: this one has nothing left to do
    if folder.from_tables(path):
        stated = manifest.read(path).trials
        return planned if stated is None else stated
    return len(folder.trial_names(path))


def find(
    results: Path, name: str = LATEST, say: Say = tell, *, answering: bool = False, empty: bool = False
) -> Run:
    """Return the run that ``name`` means: its id, the unique beginning of it, ``latest``, or an experiment's slug.

    A slug means the experiment's latest run. A run without any trial counts as the latest only if there is no other
    or with ``empty``; passing over it is reported. With ``answering``, A/A runs are the latest only if there is no
    other. Raises RequestError if there is none or more than one, with the nearest name.
    """
    runs = all_runs(results, say)
    if not runs:
        raise RequestError(
            f"There are no runs in {results.absolute()} yet.",
            _folder_of_this_name(name)
            or _published(name)
            or f"Run an experiment first ({command('run quickstart')}), or name another folder with --results DIR.",
        )
    latest = [run for run in runs if not run.against_itself] if answering else []
    if name == LATEST:
        return _latest(latest or runs, say, empty)
    by_id = {run.run_id: run for run in runs}
    if name in by_id:
        return by_id[name]
    of_experiment = [run for run in latest if run.experiment == name]
    of_experiment = of_experiment or [run for run in runs if run.experiment == name]
    if of_experiment:
        return _latest(of_experiment, say, empty)
    beginning = [run for run in runs if name and run.run_id.startswith(name)]
    if len(beginning) == 1:
        return beginning[0]
    if beginning:
        ids = ", ".join(run.run_id for run in beginning[-5:])
        raise RequestError(
            f'The ids of {len(beginning)} runs begin with "{name}"; the latest are {ids}.',
            f'Give more of the run\'s id, or "{LATEST}".',
        )
    experiments = sorted({run.experiment for run in runs})
    guess = nearest(name, [*by_id, *experiments, LATEST])
    raise RequestError(
        f'There is no run "{name}" in {results}. Give the id of a run or the beginning of one, "{LATEST}", or the'
        f" name of an experiment that was run: {', '.join(experiments)}.",
        _hint(name, guess),
    )


def _hint(name: str, guess: str | None) -> str:
    if hint := _folder_of_this_name(name) or _published(name):
        return hint
    return f'Did you mean "{guess}"?' if guess else f"`{command('list runs')}` shows the runs that exist."


def _folder_of_this_name(name: str) -> str | None:
    return f"For the folder of this name, write ./{name}" if (Path(name) / manifest.FILE).is_file() else None


def _published(name: str) -> str | None:
    """Return the hint that names an experiment's published run; None if it has none."""
    from benchbook.declare.catalogue import root
    from benchbook.record import ledger

    place = root() / ledger.DATA / name
    if not name or not ledger.published(root(), name):
        return None
    here = Path.cwd()
    return f"Its published run is {place.relative_to(here) if place.is_relative_to(here) else place}"


def _latest(found: list[Run], say: Say, empty: bool) -> Run:
    """Return the last run that has a trial; the very last one if none has or with ``empty``."""
    chosen = next((run for run in reversed(found) if run.done or empty), found[-1])
    if chosen is not found[-1]:
        say(f"{found[-1].run_id} has no trial yet; the latest run that has one is {chosen.run_id}.")
    return chosen


def resolve(
    results: Path, name: str = LATEST, say: Say = tell, *, answering: bool = False, empty: bool = False
) -> str:
    """Return the id of the run that ``name`` means, as ``find`` does."""
    return find(results, name, say, answering=answering, empty=empty).run_id


def run_ids(results: Path) -> list[str]:
    """Return the ids of all runs, corrupt ones included, by name."""
    return [path.name for path in folder.run_folders(results)]


def machine_of(run: Run) -> str | None:
    """Return the id of the machine of a run; None if it is unknown."""
    found = (_host(run).get("machine") or {}).get("id")
    return str(found) if found else None


def is_made_here(run: Run, machine: str | None) -> bool:
    """Return whether this user began a run, or whether it was made on a machine, whoever began it."""
    return seal.is_own(run.path) or (readable(machine) and machine_of(run) == machine)


def processor_of(run: Run) -> Processor | None:
    """Return the processor of a run; None if it is unknown."""
    return processor.of(_host(run).get("cpu") or {})


def _host(run: Run) -> dict[str, Any]:
    path = run.path / folder.RUN_FILE
    held = folder.read_object(path) if path.exists() else {}
    return held.get("host") or {}


def listing(results: Path, say: Say = tell) -> list[dict[str, Any]]:
    """Return a table with one row for each run, the latest first."""
    return [
        {
            "run": run.run_id,
            "experiment": run.experiment,
            "profile": run.profile,
            "kind": run.kind,
            "set": run.chosen,
            "created_at": run.created_at,
            "trials": run.done,
            "planned": run.planned,
            "state": "whole" if run.whole else "unfinished",
            "begun": "here" if seal.is_own(run.path) else "elsewhere",
        }
        for run in reversed(all_runs(results, say))
    ]


def unfinished(results: Path, say: Say = tell) -> list[str]:
    """Return the ids of the unfinished runs, oldest first: they lack trials of their plan, or their end."""
    return [
        run.run_id
        for run in all_runs(results, say)
        if (not run.whole or run.finished_at is None) and not objects.is_elsewhere(run.path)
    ]


def left(results: Path, run_id: str, say: Say = tell) -> list[dict[str, Any]]:
    """Return the trials of a run's plan that are not whole on disk, in the order of the plan.

    A corrupt trial is among them: move its folder aside before running it again.
    Raises RequestError if there is no such run or its plan cannot be read.
    """
    from benchbook.record.trial import read_all  # imports pydantic, which listing runs does not need

    run = find(results, run_id, say)
    if objects.is_elsewhere(run.path) or folder.from_tables(run.path):
        return []
    try:
        planned = looks.needed(
            folder.read_object(run.path / folder.PLAN_FILE)["trials"], looks.read(run.path)
        )
        whole = {trial["trial_id"] for trial in read_all(run.path, say, whole=True)}
        return [trial for trial in planned if trial["trial_id"] not in whole]
    except (ValueError, KeyError, TypeError) as error:
        raise RequestError(
            f"The plan of run {run.run_id} cannot be read: {error}.",
            f"Start the experiment again with `{command(f'run {run.experiment}')}`.",
        ) from error
