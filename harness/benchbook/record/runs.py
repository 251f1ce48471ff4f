"""The runs of a results folder: listed, found by what a user names them, and what they still lack."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.errors import RequestError, nearest
from benchbook.record import folder, objects
from benchbook.record.folder import Say, tell

LATEST = "latest"


@dataclass(frozen=True)
class Run:
    """One run as its folder shows it. ``done`` counts trials that are whole, ``planned`` all of its plan."""

    run_id: str
    experiment: str
    profile: str
    created_at: str
    """ISO 8601."""
    finished_at: str | None
    """ISO 8601; None for a run that did not come to its end."""
    planned: int
    done: int
    path: Path
    against_itself: bool = False
    """Whether it is an A/A run, which gives a noise floor and answers no question."""

    @property
    def whole(self) -> bool:
        """Whether every trial of the plan exists."""
        return self.done >= self.planned


def all_runs(results: Path, say: Say = tell) -> list[Run]:
    """Return the runs of a results folder, oldest first; corrupt ones are said by name and left out."""
    found = []
    for path in folder.run_folders(results):
        try:
            found.append(_read(path))
        except ValueError as error:
            say(f"Left out: the run in {path} has no whole plan: {error}.")
    return sorted(found, key=lambda run: (run.created_at, run.run_id))


def _read(path: Path) -> Run:
    facts = {}
    for name in (folder.PLAN_FILE, folder.RUN_FILE):
        if (path / name).exists():
            facts.update(folder.read_object(path / name))
    for key in ("run_id", "experiment", "profile", "created_at"):
        if not isinstance(facts.get(key), str):
            raise ValueError(f'"{key}" is missing or no text')  # noqa: TRY004 - one error for all
    planned = facts.get("trials", [])
    if not isinstance(planned, list):
        raise ValueError('"trials" is no list')  # noqa: TRY004
    finished = facts.get("finished_at")
    return Run(
        run_id=path.name,
        experiment=facts["experiment"],
        profile=facts["profile"],
        created_at=facts["created_at"],
        finished_at=finished if isinstance(finished, str) else None,
        planned=len(planned),
        # Of a run that another machine carries out, nothing is left to be done here.
        done=len(planned) if (path / objects.ELSEWHERE).exists() else len(folder.trial_names(path)),
        path=path,
        against_itself=any("aa" in (one.get("levels") or {}) for one in planned[:1] if isinstance(one, dict)),
    )


def find(
    results: Path, name: str = LATEST, say: Say = tell, *, answering: bool = False, empty: bool = False
) -> Run:
    """Return the run that ``name`` means.

    That is its id, the unique beginning of it, ``latest``, or an experiment's slug (its latest run).
    A run without any trial is the latest only where there is no other, which is said, or with ``empty``.
    ``answering``: the latest means the latest that is no A/A run, where there is one.
    Raises RequestError where there is none or more than one, with the nearest name.
    """
    runs = all_runs(results, say)
    if not runs:
        raise RequestError(
            f"There are no runs in {results} yet.",
            "Run an experiment first (bench run quickstart), or name another folder with --results DIR.",
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
            f'"{name}" is the beginning of {len(beginning)} runs; the latest are {ids}.',
            f'Give more of the run\'s id, or "{LATEST}".',
        )
    experiments = sorted({run.experiment for run in runs})
    guess = nearest(name, [*by_id, *experiments, LATEST])
    raise RequestError(
        f'There is no run "{name}" in {results}; allowed are a run\'s id or its beginning, "{LATEST}",'
        f" or an experiment that has run: {', '.join(experiments)}.",
        f'Did you mean "{guess}"?' if guess else "See bench list runs for those that exist.",
    )


def _latest(found: list[Run], say: Say, empty: bool) -> Run:
    """Return the last run that has a trial, the very last where none has or where ``empty`` ones count too."""
    chosen = next((run for run in reversed(found) if run.done or empty), found[-1])
    if chosen is not found[-1]:
        say(f"{found[-1].run_id} has no trial yet; the latest run that has one is {chosen.run_id}.")
    return chosen


def resolve(
    results: Path, name: str = LATEST, say: Say = tell, *, answering: bool = False, empty: bool = False
) -> str:
    """Return the id of the run that ``name`` means; as ``find``."""
    return find(results, name, say, answering=answering, empty=empty).run_id


def run_ids(results: Path) -> list[str]:
    """Return the ids of all runs, corrupt ones too, by name."""
    return [path.name for path in folder.run_folders(results)]


def listing(results: Path, say: Say = tell) -> list[dict[str, Any]]:
    """Return one row for each run, the latest first, for a table."""
    return [
        {
            "run": run.run_id,
            "experiment": run.experiment,
            "profile": run.profile,
            "created_at": run.created_at,
            "trials": run.done,
            "planned": run.planned,
            "state": "whole" if run.whole else "unfinished",
        }
        for run in reversed(all_runs(results, say))
    ]


def unfinished(results: Path, say: Say = tell) -> list[str]:
    """Return the ids of the runs that lack trials of their plan or did not come to their end, oldest first."""
    return [
        run.run_id
        for run in all_runs(results, say)
        if (not run.whole or run.finished_at is None) and not (run.path / objects.ELSEWHERE).exists()
    ]


def left(results: Path, run_id: str, say: Say = tell) -> list[dict[str, Any]]:
    """Return the trials of a run's plan that are not whole on disk, in the order of the plan.

    A corrupt trial counts as left: its folder has to be moved aside before it is run again.
    Raises RequestError where there is no such run or its plan cannot be read.
    """
    run = find(results, run_id, say)
    if (run.path / objects.ELSEWHERE).exists():
        return []  # another machine's, and carried out there
    try:
        planned = folder.read_object(run.path / folder.PLAN_FILE)["trials"]
        whole = {trial["trial_id"] for trial in folder.read_trials(run.path, say)}
        return [trial for trial in planned if trial["trial_id"] not in whole]
    except (ValueError, KeyError, TypeError) as error:
        raise RequestError(
            f"The plan of run {run.run_id} cannot be read: {error}.",
            "Start the experiment anew with bench run.",
        ) from error
