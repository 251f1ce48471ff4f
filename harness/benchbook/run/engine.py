"""Carry out a plan: prepare once, do every missing trial, and fill the database."""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError, TrialFailed, Unavailable, command
from benchbook.host import guarded, temporary
from benchbook.host.filesystem import state_folder
from benchbook.plan.plan import Plan, PlannedTrial
from benchbook.process import confinement, containers, leftovers, strays
from benchbook.process.launch import Program
from benchbook.process.ordinary_user import ordinary_user
from benchbook.record import database, journal, looks, objects, seal
from benchbook.record.folder import (
    PLAN_FILE,
    RUN_FILE,
    TRIAL_FILE,
    read_object,
    tell,
    write_failures_explained,
    write_json,
    write_trial,
    write_whole,
)
from benchbook.record.runs import left
from benchbook.record.trial_record import Trial
from benchbook.run.context import Context, prepare
from benchbook.run.description import check_same, describe, earlier_runs, keep_declarations
from benchbook.run.progress import Observer
from benchbook.run.scratch import (
    announced,
    neighbours,
    neighbours_note,
    require_no_links,
    scratch_folder,
    sweep_scratch,
)
from benchbook.run.trial import TrialRun
from benchbook.storage import mounting
from benchbook.systems.driver import server_users

if TYPE_CHECKING:
    from benchbook.run.cluster import Cluster


@contextmanager
def connected_cluster(plan: Plan, observer: Observer) -> Iterator[Cluster | None]:
    """Yield the connected cluster of a run; None for a run on this machine."""
    if plan.cluster is None:
        yield None
        return
    from benchbook.run.cluster import Cluster

    cluster = Cluster(plan.cluster, observer, plan.experiment)
    try:
        yield cluster
    finally:
        cluster.close()


def carry_out_on_cluster(context: Context, planned: PlannedTrial, folder: Path) -> Trial:
    """Carry out a trial on the cluster and return its record; a lost worker fails only this trial."""
    from benchbook.run.cluster import RemoteTrial

    assert context.cluster is not None
    queries = {key: (path.name, path.read_bytes()) for key, path in context.query_files.items()}
    task = RemoteTrial(context.plan, planned, context.programs, context.digests, queries)
    try:
        return context.cluster.carry_out(task, folder)
    except Unavailable as reason:
        return TrialRun(context, planned, folder).lost("skipped", str(reason))
    except TrialFailed as reason:
        return TrialRun(context, planned, folder).lost("failed", str(reason))


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run."""

    run_id: str
    statuses: dict[str, int]
    """Status → number of trials, in the whole run."""

    @property
    def exit_code(self) -> int:
        """Return 4 if a trial failed or is invalid, else 3 if one was skipped, else 0."""
        if self.statuses.get("failed") or self.statuses.get("invalid"):
            return 4
        return 3 if self.statuses.get("skipped") else 0


def store_plan(results: Path, plan: Plan) -> None:
    """Write ``plan.json`` and its seal, with which the run can be resumed."""
    folder, text = results / "runs" / plan.run_id, plan.text().encode()
    with write_failures_explained(results):
        if not seal.seal_plan(folder, text):
            tell(
                "bench: if this run is interrupted, it cannot be resumed: the folder of this user's state"
                f" ({state_folder(os.environ)}) takes no private key."
            )
        write_whole(folder / PLAN_FILE, text)


def load_plan(results: Path, run_id: str) -> Plan:
    """Return the plan of a run that this user began here; raise RequestError for any other and an unreadable one."""
    path = results / "runs" / run_id / PLAN_FILE
    try:
        text = guarded.contents(path, guarded.RESULT_BYTES)
        seal.require_plan(path.parent, text)
        plan = Plan.parse(json.loads(text))
        if plan.run_id != run_id:
            raise ValueError(f"it is the plan of run {plan.run_id}")
        return plan
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise RequestError(
            f"{path} is not a valid plan ({error}).", "Remove the run's folder, or start a new run."
        ) from None


TakeLook = Callable[[int], looks.Look | None]
"""Judges a run after a number of blocks; returns None where no look is due."""


def carry_out(
    plan: Plan,
    catalogue: Catalogue,
    results: Path,
    argv: list[str],
    observer: Observer,
    take_look: TakeLook | None = None,
) -> Outcome:
    """Carry out the trials of a stored plan that do not exist yet; return the outcome of the whole run.

    This also resumes a run: finished trials stay, and the order continues. With ``take_look``, the looks between
    blocks decide which cells continue and when the run ends.
    """
    results = results.resolve()  # systems run in other folders, where a relative path would be wrong
    folder = results / "runs" / plan.run_id
    with (
        write_failures_explained(results),
        lock_run(folder, plan.run_id),
        scratch_folder(results) as scratch,
        announced(plan.run_id),
    ):
        sweep(results, observer.note)
        if others := neighbours():
            observer.note(neighbours_note(others))
        missing = {trial["trial_id"] for trial in left(results, plan.run_id, observer.note)}
        altered, stopped = journal.altered(folder, missing), journal.stopped(folder)
        missing |= {one["trial_id"] for one in altered if one["why"] == "changed"}
        todo = [trial for trial in plan.trials if trial.trial_id in missing]
        observer.run_started(plan, len(plan.trials) - len(todo))
        try:
            if todo:
                with connected_cluster(plan, observer) as cluster:
                    context = prepare(plan, catalogue, results, scratch, plan.given, observer, cluster)
                    _require_entrance(context)
                    _run_record(context, folder, argv)
                    _tell_altered(folder, altered, observer)
                    _tell_stopped(folder, stopped, observer)
                    for block, trials in itertools.groupby(todo, key=lambda trial: trial.block):
                        _look(folder, block, take_look)
                        taken = looks.read(folder)
                        for trial in trials:
                            if looks.is_needed(block, trial.cell, taken):
                                _carry_out_trial(context, trial, folder)
            else:
                _tell_altered(folder, altered, observer)
            _look(folder, plan.trials[-1].block + 1, take_look)
            _finish(folder, results, plan)
            database.enter(results, folder)
        finally:
            observer.run_ended()
    return Outcome(plan.run_id, statuses(folder))


def _look(folder: Path, blocks: int, take_look: TakeLook | None) -> None:
    """Take and record the look after a number of blocks, unless it was taken before or the run has ended."""
    taken = looks.read(folder)
    if take_look is None or looks.stopped(taken) or (taken and taken[-1]["block"] >= blocks):
        return
    found = take_look(blocks)
    if found is not None:
        looks.append(folder, {**found, "at": datetime.now(UTC).isoformat(timespec="milliseconds")})


def sweep(results: Path, note: Callable[[str], None]) -> None:
    """Remove what killed harnesses left in a results folder; living harnesses keep theirs."""
    require_no_links(results)
    for ended in leftovers.sweep(results / "processes"):
        note(f"ended a process that an earlier run left: {ended.name} (pid {ended.pid})")
    for ended in strays.sweep():
        note(f"ended a process that an earlier run left: {ended.name} (pid {ended.pid})")
    for description in mounting.sweep_mounts(results / "mounts"):
        note(f"unmounted what an earlier run left: {description}")
    for description in containers.sweep(results / "processes"):
        note(f"removed what an earlier run left: {description}")
    sweep_scratch(results)
    temporary.sweep()
    confinement.sweep()


def statuses(folder: Path) -> dict[str, int]:
    """Return the number of complete trials of a run by status."""
    from benchbook.record.trial import read_all

    return dict(Counter(str(trial["status"]) for trial in read_all(folder)))


def _carry_out_trial(context: Context, trial: PlannedTrial, folder: Path) -> None:
    place = _trial_folder(folder, trial)
    if (place / TRIAL_FILE).exists():
        _set_aside(place, folder / "corrupt", context.observer)
    guarded.remove_tree(place)  # what a killed harness left of this trial
    place.mkdir(parents=True)
    journal.begun(folder, place, trial.trial_id)
    context.observer.trial_started(trial)
    record = (
        carry_out_on_cluster(context, trial, place)
        if context.cluster
        else TrialRun(context, trial, place).run()
    )
    record = write_trial(place, record)
    journal.ended(folder, place, trial.trial_id, str(record["status"]))
    if remote := objects.of(context.results):
        objects.push(remote, folder, [place])
    context.observer.trial_ended(trial, record)


def _set_aside(place: Path, aside: Path, observer: Observer) -> None:
    """Keep the folder of an unreadable trial, and make room for its replacement."""
    aside.mkdir(exist_ok=True)
    kept = aside / f"{place.name}-{len(list(aside.iterdir()))}"
    place.rename(kept)
    observer.note(
        f"the record of trial {place.name} is unreadable or was changed; it moves to {kept}, and the trial runs again"
    )


def _require_entrance(context: Context) -> None:
    """Raise RequestError if a server that runs as another user could not reach its data."""
    for program in context.programs.values():
        if context.cluster or not isinstance(program, Program) or program.url or program.isolated:
            continue
        users = server_users(context.system(program.system).driver)
        try:
            if users:
                ordinary_user(*users).require_entrance(context.scratch / "data")
        except TrialFailed as error:
            again = command(f"resume {context.plan.run_id}")
            raise RequestError(
                f"{program.system}: {error.message}", f"{error.hint}\n  Then continue with: {again}"
            ) from None


def _run_record(context: Context, folder: Path, argv: list[str]) -> None:
    """Write ``run.json``; when resuming, check that the existing one still applies."""
    path = folder / RUN_FILE
    if path.exists():
        check_same(context, read_object(path))
        return
    keep_declarations(context)
    made = describe(context, argv)
    seal.seal_command(folder, made)
    write_json(path, made)


def _tell_altered(folder: Path, found: list[journal.Altered], observer: Observer) -> None:
    """Record in ``run.json`` which finished trials somebody removed or changed before the run was continued."""
    if not found:
        return
    held = read_object(folder / RUN_FILE)
    before = held.get("altered") or []
    write_json(
        folder / RUN_FILE, {**held, "altered": [*before, *(one for one in found if one not in before)]}
    )
    if any(one["why"] == "journal" for one in found):
        journal.begin_again(folder)
    named = ", ".join(one["trial_id"] or "unknown ones" for one in found)
    observer.note(f"trials that had ended were removed or changed ({named}); the run and its page say so")


def _tell_stopped(folder: Path, found: list[journal.Stopped], observer: Observer) -> None:
    """Record in ``run.json`` which trials began, did not end, and run again."""
    held = read_object(folder / RUN_FILE)
    times = {one["trial_id"]: one["times"] for one in held.get("stopped") or []}
    more = [one for one in found if one["times"] > times.get(one["trial_id"], 0)]
    if more:
        times |= {one["trial_id"]: one["times"] for one in more}
        told = [{"trial_id": name, "times": number} for name, number in sorted(times.items())]
        write_json(folder / RUN_FILE, {**held, "stopped": told})
        named = ", ".join(one["trial_id"] for one in more)
        observer.note(
            f"trials were stopped before they ended ({named}); they run again, and the run's page says so"
        )


def _finish(folder: Path, results: Path, plan: Plan) -> None:
    """Record when the run was first complete, and which other runs of the experiment were complete before that."""
    run = read_object(folder / RUN_FILE)
    if run["finished_at"] is None:
        ended = datetime.now(UTC).isoformat(timespec="milliseconds")
        earlier = {one["run_id"]: one for one in run.get("earlier_runs") or []}
        earlier |= {one["run_id"]: one for one in earlier_runs(results, plan)}
        write_json(folder / RUN_FILE, {**run, "earlier_runs": [*earlier.values()], "finished_at": ended})


def _trial_folder(folder: Path, trial: PlannedTrial) -> Path:
    return folder / "trials" / f"{trial.index:04d}"


@contextmanager
def lock_run(folder: Path, run_id: str) -> Iterator[None]:
    """Hold the run's lock, so that two harnesses never work on one run."""
    from filelock import FileLock, Timeout

    try:
        rights = guarded.close_lock(folder / "lock")
        held = FileLock(folder / "lock", mode=rights).acquire(blocking=False)
    except Timeout:
        raise RequestError(
            f"{run_id} is being carried out by another process.", "Wait for it, or start a new run."
        ) from None
    with held:
        yield
