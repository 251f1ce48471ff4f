"""The plan of a run: cells, trials and their order. It is stored before anything is started."""

from __future__ import annotations

import itertools
import json
import math
import random
import secrets
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.dataset import Dataset
from benchbook.declare.experiment import PLACE_FACTORS, Experiment, Phase, Profile
from benchbook.declare.level import Setting
from benchbook.declare.names import is_run_id, shown
from benchbook.errors import RequestError, unknown
from benchbook.plan.factors import AA, AA_LABELS, BUILD, FROM, SOURCE, Factors, factors

Levels = dict[str, Setting]


def cells(factors: Factors) -> list[Levels]:
    """Return all combinations; the last factor changes fastest.

    >>> cells({"system": ["a", "b"], "arm": ["vanilla"]})
    [{'system': 'a', 'arm': 'vanilla'}, {'system': 'b', 'arm': 'vanilla'}]
    """
    return [dict(zip(factors, levels, strict=True)) for levels in itertools.product(*factors.values())]


def label(levels: Levels) -> str:
    """Return a cell's name, which is the same in every run with the same levels.

    >>> label({"system": "a", "batch_size": 10})
    'system=a,batch_size=10'
    """
    return ",".join(f"{name}={_shown(level)}" for name, level in levels.items())


def short_labels(cells: Iterable[Levels]) -> dict[str, str]:
    """Return cell → its name without the factors that are the same in all cells; whole names if there is one cell.

    >>> short_labels([{"system": "a", "scale": 1}, {"system": "b", "scale": 1}])
    {'system=a,scale=1': 'system=a', 'system=b,scale=1': 'system=b'}
    """
    found = {label(levels): levels for levels in cells}
    names = dict.fromkeys(name for levels in found.values() for name in levels)
    varying = {
        name for name in names if len({str(levels.get(name)) for levels in found.values()}) > 1
    } or names
    return {
        cell: label({name: level for name, level in levels.items() if name in varying})
        for cell, levels in found.items()
    }


def short_labels_of(names: Iterable[str]) -> dict[str, str]:
    """Return cell → its short name, as ``short_labels`` does, of cells of which only the names are known.

    >>> short_labels_of(["system=a,scale=1", "system=b,scale=1"])
    {'system=a,scale=1': 'system=a', 'system=b,scale=1': 'system=b'}
    """
    parts = {name: [part.partition("=") for part in name.split(",")] for name in names}
    short = short_labels({factor: level for factor, _, level in held} for held in parts.values())
    return {name: short.get(name, name) for name in parts}


def _shown(level: Setting) -> str:
    return str(level).lower() if isinstance(level, bool) else str(level)


T = TypeVar("T")
_COMPARED = (*PLACE_FACTORS, SOURCE, BUILD, AA)
"""Factors whose levels most comparisons are about."""


def work(levels: Levels) -> Hashable:
    """Return the levels that cells share when they are compared with each other.

    >>> work({"system": "a", "batch_size": 10}) == work({"system": "b", "batch_size": 10})
    True
    """
    return label({name: level for name, level in levels.items() if name not in _COMPARED})


def blocks(
    cells: list[T], count: int, seed: int, group: Callable[[T], Hashable] | None = None
) -> list[list[T]]:
    """Return ``count`` blocks, each containing every cell once, in an order that depends on ``seed``.

    These are randomised complete blocks. Blocks spread slow changes of the machine over all cells alike, and shuffling
    within a block keeps a cell from always following the same other one. Cells of one ``group`` run one after the
    other, in random order: the closer two trials are, the more alike is the machine. With two cells a shuffle would
    leave a 1 in 4 chance of three equal blocks in a row, so every second block reverses the previous one: ABBA or BAAB,
    drawn for each pair of blocks. If it were always the same one, two trials of one cell would be adjacent at every
    border of pairs, and noise that lasts longer than a trial would make intervals too narrow.
    """
    shuffler = random.Random(seed)
    if len(cells) == 2:
        pairs = (shuffler.sample(cells, 2) for _ in range(0, count, 2))
        return [block for first in pairs for block in (first, first[::-1])][:count]
    groups: dict[Hashable, list[T]] = {}
    for place, cell in enumerate(cells):
        groups.setdefault(place if group is None else group(cell), []).append(cell)

    def shuffled() -> list[T]:
        order = shuffler.sample(list(groups.values()), len(groups))
        return [cell for held in order for cell in shuffler.sample(held, len(held))]

    return [shuffled() for _ in range(count)]


SCHEMA = 1


@dataclass(frozen=True)
class PlannedTrial:
    """One trial of a plan."""

    trial_id: str
    index: int
    """Place in the run, from 0."""
    block: int
    position: int
    """Place in the block, from 0."""
    cell: str
    levels: dict[str, Setting]

    @property
    def program(self) -> str:
        """The name of its program: its system, with the source or the build if that is a factor."""
        system, source = str(self.levels["system"]), self.levels.get(BUILD, self.levels.get(SOURCE))
        return f"{system}{FROM}{source}" if source else system


@dataclass(frozen=True)
class Plan:
    """Everything that determines what a run does."""

    run_id: str
    experiment: str
    title: str
    profile: str
    order_seed: int
    created_at: str
    trials_per_cell: int
    trial_seconds: float
    """Declared estimate of the length of a trial."""
    dataset: Dataset
    """The dataset's declaration with the profile's parameters."""
    phases: list[Phase]
    """Phases with the profile's options, before factors replace some."""
    given: dict[str, str]
    """Programs or servers from ``--system NAME=PATH-or-URL``, by system, or by program if builds are compared."""
    trials: list[PlannedTrial]
    factors: Factors = field(default_factory=dict)
    """Factor → its levels, in the order in which they were declared or given with ``--set``; empty in older plans."""
    schema: int = SCHEMA
    sequential: dict[str, Any] | None = None
    """The design of a run that continues until its claims are decided (``plan.sequential``)."""
    cluster: str | None = None
    """Address of the Dask scheduler whose workers carry out the plan; None means this machine."""
    origins: dict[str, str] = field(default_factory=dict)
    """Where programs of ``given`` come from, from ``--origin NAME=TEXT``."""
    record_operations: bool = False
    """True if each operation is recorded separately, in addition to the histograms."""
    gate: dict[str, Any] | None = None
    """The design of a gate (``plan.gating``), whose looks end the run."""

    @property
    def against_itself(self) -> bool:
        """True if it is an A/A run, which measures the machine's noise floor."""
        return any(AA in trial.levels for trial in self.trials)

    def text(self) -> str:
        """Return the plan as the JSON of ``plan.json``."""
        models = {"dataset": self.dataset.model_dump(mode="json"), "phases": list(map(_stored, self.phases))}
        return json.dumps({**asdict(self), **models}, indent=1, default=str) + "\n"

    def cells(self) -> list[str]:
        """Return the cells in order of first occurrence."""
        return list(dict.fromkeys(trial.cell for trial in self.trials))

    def systems(self) -> list[str]:
        """Return the systems of the trials, in order of first use."""
        return list(dict.fromkeys(str(trial.levels["system"]) for trial in self.trials))

    @staticmethod
    def parse(data: dict[str, Any]) -> Plan:
        """Return the plan from the content of ``plan.json``; raise ValueError for a name that is none."""
        if data.get("schema") != SCHEMA:
            raise RequestError(
                f"plan.json has schema {data.get('schema')}, but this version of Benchbook reads only {SCHEMA}.",
                "Use the revision that made the run; its run.json names it.",
            )
        run_id = data["run_id"]
        if not is_run_id(run_id):
            raise ValueError(f"{shown(run_id)} is not the id of a run")
        trials = [PlannedTrial(**trial) for trial in data["trials"]]
        for index, trial in enumerate(trials):
            if trial.trial_id != f"{run_id}/{index:04d}" or trial.index != index:
                raise ValueError(f"trial {index} is called {shown(trial.trial_id)}")
        known = {key: value for key, value in data.items() if key != "precision"}  # older plans have it
        dataset, phases = (
            Dataset.model_validate(data["dataset"]),
            [Phase.model_validate(phase) for phase in data["phases"]],
        )
        return Plan(**{**known, "trials": trials, "dataset": dataset, "phases": phases})


def profile_named(slug: str, experiment: Experiment, name: str) -> Profile:
    """Return a profile of an experiment; raise RequestError with the nearest name if there is none."""
    if name not in experiment.profiles:
        raise unknown("profile", name, experiment.profiles, f"experiments/{slug}/experiment.toml")
    return experiment.profiles[name]


MOST_COMBINATIONS = 100_000
"""Combinations of levels before some are left out; the expansion of more would take minutes and gigabytes."""
MOST_TRIALS = 10_000
"""Trials of a run: their numbers have four digits, and even trials of one second take hours."""
SEEDS = 2**63
"""The database keeps the order seed as a signed number of 64 bits."""


def _require_size(slug: str, cells: int, trials: int, limit: int, what: str) -> None:
    """Raise RequestError if a run has more than ``limit`` trials, or combinations of levels (``trials`` is 1)."""
    if cells * trials > limit:
        times = f" ({cells:,} cells x {trials:,} trials)" if trials > 1 else ""
        raise RequestError(
            f"{slug}: {cells * trials:,} {what}{times}, but a run has at most {limit:,}.",
            "Choose fewer levels with --set FACTOR=A,B, or fewer trials of each cell with --trials N.",
        )


def new_seed() -> int:
    """Return a seed for a random order."""
    return secrets.randbits(32)


def plan(
    catalogue: Catalogue,
    slug: str,
    profile_name: str = "quick",
    chosen: dict[str, list[str]] | None = None,
    trials: int | None = None,
    order_seed: int | None = None,
    given: dict[str, str] | None = None,
    now: datetime | None = None,
    against_itself: bool = False,
    builds: Sequence[str] = (),
) -> Plan:
    """Return the plan of one run of an experiment.

    ``chosen`` holds levels from ``--set``; ``trials`` replaces the profile's number of trials per cell; ``order_seed``
    is random by default; ``against_itself`` plans an A/A run with every cell twice, and ``builds`` one with every cell
    once for each build. Raise RequestError for an invalid
    request.
    """
    experiment = catalogue.experiment(slug)
    profile = profile_named(slug, experiment, profile_name)
    dataset = _dataset(catalogue, slug, experiment, profile)
    if trials is not None and trials < 1:
        raise RequestError(
            f"--trials {trials}: a cell needs at least 1 trial, and 3 for any verdict.",
            "Write --trials 3 or more.",
        )
    if order_seed is not None and not 0 <= order_seed < SEEDS:
        raise RequestError(
            f"--order-seed {order_seed}: allowed are whole numbers from 0 to {SEEDS - 1}.",
            "Leave it out for a random one.",
        )
    count = trials or profile.trials
    levels = factors(experiment, profile, chosen or {}, dataset, catalogue)
    if against_itself:
        levels = {**levels, AA: list(AA_LABELS)}
    if builds:
        levels = {**levels, BUILD: list(builds)}
    combinations = math.prod(len(held) for held in levels.values())
    _require_size(slug, combinations, 1, MOST_COMBINATIONS, "combinations of levels")
    chosen_cells = [cell for cell in cells(levels) if not experiment.leaves_out(cell, profile, chosen or {})]
    if not chosen_cells:
        raise RequestError(
            f"Nothing is left to run: experiments/{slug}/experiment.toml leaves out every requested cell.",
            "Choose other levels with --set. The tables `without` in that file list what is left out.",
        )
    seed = new_seed() if order_seed is None else order_seed
    _require_size(slug, len(chosen_cells), count, MOST_TRIALS, "trials")
    moment = now or datetime.now(UTC)
    run_id = f"{slug}-{moment:%Y%m%dT%H%M%S}-{secrets.token_hex(2)}"
    planned: list[PlannedTrial] = []
    for block, ordered in enumerate(blocks(chosen_cells, count, seed, work)):
        for position, cell in enumerate(ordered):
            index = len(planned)
            planned.append(PlannedTrial(f"{run_id}/{index:04d}", index, block, position, label(cell), cell))
    return Plan(
        run_id=run_id,
        experiment=slug,
        title=experiment.title,
        profile=profile_name,
        order_seed=seed,
        created_at=moment.isoformat(timespec="milliseconds"),
        trials_per_cell=count,
        trial_seconds=profile.trial_seconds,
        dataset=dataset,
        phases=_phases(experiment, profile),
        given=given or {},
        trials=planned,
        factors=levels,
    )


def _dataset(catalogue: Catalogue, slug: str, experiment: Experiment, profile: Profile) -> Dataset:
    try:
        found = catalogue.dataset(experiment.dataset).replaced(profile.dataset)
    except RequestError as error:
        raise RequestError(f"experiments/{slug}/experiment.toml: {error.message}", error.hint) from None
    return found.pinned(catalogue.path("dataset", found.name)) if found.source else found


def _stored(phase: Phase) -> dict[str, Any]:
    """Return a phase as ``plan.json`` keeps it: its options, and what restricts it."""
    return {
        "name": phase.name,
        "workload": phase.workload,
        "options": phase.options,
        **phase.model_dump(mode="json", include={"fixed", "only", "without"}, exclude_defaults=True),
    }


def _phases(experiment: Experiment, profile: Profile) -> list[Phase]:
    run = [phase for phase in experiment.phases if not profile.phases or phase.name in profile.phases]
    planned = [
        phase.model_copy(
            update={"options": phase.replaced(profile.options_of(phase)).model_dump(mode="json")}
        )
        for phase in run
    ]
    unused = [name for name in profile.options if not any(phase.accepts(name) for phase in run)]
    if unused:
        allowed = sorted({name for phase in run for name in phase.typed(phase.options).model_dump()})
        raise unknown("option", unused[0], allowed, "options of the profile")
    return planned


def trial_dataset(planned: Plan, levels: dict[str, Setting]) -> Dataset:
    """Return the dataset of one cell: the plan's, with factors that are dataset parameters applied."""
    parameters = planned.dataset.model.model_fields
    return planned.dataset.replaced({name: level for name, level in levels.items() if name in parameters})
