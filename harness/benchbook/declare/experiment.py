"""An experiment: question, factors, phases, profiles and claims. File: ``experiments/<slug>/experiment.toml``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, cast

from pydantic import Field, model_validator

from benchbook.declare.claim import Choice, Claim, PublishedMachine, check_claims
from benchbook.declare.level import listed, text
from benchbook.declare.toml import Model, Name, Positive, Setting, Text, check
from benchbook.declare.workload import WORKLOADS, Options
from benchbook.errors import suggestion

# Limits of a system's resources: factors that any experiment may declare, of one level or of several.

LIMIT_FACTORS = ("memory_limit", "cpu_limit", "pinning")
"""Factors that limit what the system's processes may use; they change neither data nor options."""

NONE = "none"
"""The level that sets no limit, beside others that do."""

Pinning = Literal["auto", "off", "always"]
"""Cores of their own for server and client: ``auto`` where there are enough, ``always`` from 2 cores on."""
PINNINGS: tuple[Pinning, ...] = ("auto", "off", "always")

LEAST_MEMORY_BYTES = 1 << 20
_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True)
class Limits:
    """What the processes of a system may use in one trial; None is no limit."""

    memory_bytes: int | None = None
    """Memory, file cache included; nothing goes to swap."""
    cpu_cores: float | None = None
    """Processor time for each second of time."""
    pinning: Pinning = "auto"

    @property
    def any(self) -> bool:
        """Whether a control group is needed for them."""
        return self.memory_bytes is not None or self.cpu_cores is not None

    def words(self) -> str:
        """Return them as a sentence shows them: ``memory_limit 268435456 B, cpu_limit 0.5``."""
        memory = [] if self.memory_bytes is None else [f"memory_limit {self.memory_bytes} B"]
        return ", ".join([*memory, *([] if self.cpu_cores is None else [f"cpu_limit {self.cpu_cores:g}"])])


def limits(levels: dict[str, Any]) -> Limits:
    """Return the limits among the levels of a cell; raise ValueError, in words, for one that is none.

    >>> limits({"system": "sqlite", "memory_limit": "256MiB", "cpu_limit": 0.5})
    Limits(memory_bytes=268435456, cpu_cores=0.5, pinning='auto')
    """
    pinning = levels.get("pinning", "auto")
    if pinning not in PINNINGS:
        raise ValueError(f'pinning is "{pinning}"; allowed: {", ".join(PINNINGS)}')
    return Limits(
        _memory_bytes(levels.get("memory_limit", NONE)),
        _cpu_cores(levels.get("cpu_limit", NONE)),
        cast("Pinning", pinning),
    )


def _memory_bytes(level: Setting) -> int | None:
    if level == NONE:
        return None
    found = re.fullmatch(rf"(\d+(?:\.\d+)?) ?({'|'.join(_UNITS)})", str(level))
    if not found:
        raise ValueError(
            f'memory_limit is "{level}"; write "none", or a number and one of {", ".join(_UNITS)}, such as "512MiB"'
        )
    size = int(float(found[1]) * _UNITS[found[2]])
    if size < LEAST_MEMORY_BYTES:
        raise ValueError(f'memory_limit is "{level}"; the least is 1MiB')
    return size


def _cpu_cores(level: Setting) -> float | None:
    if level == NONE:
        return None
    try:
        cores = float("nan") if isinstance(level, bool) else float(level)
    except ValueError:
        cores = float("nan")
    if not 0.01 <= cores <= 4096:
        raise ValueError(
            f'cpu_limit is "{level}"; write "none", or a number of cores from 0.01 on, such as 0.5'
        )
    return cores


# An experiment: a question, factors, phases, profiles and claims. File: ``experiments/<slug>/experiment.toml``.

PLACE_FACTORS = ("system", "arm", "storage")
"""Factors that say what is tested and where; every other factor is a limit
(``declare/limits.py``), an option or a dataset parameter."""

Levels = Annotated[list[Setting], Field(min_length=1)]


ENDS = frozenset({"duration", "queries", "operations"})
"""Options that say when a phase ends; a phase has one of them."""


class Phase(Model):
    """One timed step of a trial."""

    name: Name
    workload: Name
    options: dict[str, Any] = Field(default_factory=dict)
    fixed: list[Name] = Field(default_factory=list)
    """Options that no factor and no profile replaces, such as the workers of queries where workers is a factor
    of the load."""
    only: dict[Name, Setting] = Field(default_factory=dict)
    """Levels of factors: the phase is done in those cells alone, such as the loads of an experiment in which
    warm and cold queries are different cells."""
    without: dict[Name, Choice] = Field(default_factory=dict)
    """Levels of factors, one or a list each: the phase is left out in the cells that have one of each, such as
    queries of a system that cannot answer them in one of its arms."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.workload not in WORKLOADS:
            guess = suggestion(self.workload, WORKLOADS)
            raise ValueError(f'workload "{self.workload}" is none of {", ".join(sorted(WORKLOADS))}{guess}')
        self.typed(self.options)
        for option in self.fixed:
            if option not in WORKLOADS[self.workload].model_fields:
                guess = suggestion(option, WORKLOADS[self.workload].model_fields)
                raise ValueError(f'fixed: the workload "{self.workload}" has no option "{option}"{guess}')
        return self

    def typed(self, options: dict[str, Any]) -> Options:
        """Return ``options`` checked by the workload's own model."""
        return check(options, WORKLOADS[self.workload], f'options of the phase "{self.name}"')

    def replaced(self, changes: Mapping[str, Any]) -> Options:
        """Return the options with those of a profile or a cell that this phase accepts.

        A duration replaces a number of operations, and the other way round.
        """
        accepted = {name: value for name, value in changes.items() if self.accepts(name)}
        ended_otherwise = ENDS if accepted.keys() & ENDS else ()
        kept = {name: value for name, value in self.options.items() if name not in ended_otherwise}
        return self.typed({**kept, **accepted})

    def done_at(self, levels: dict[str, Setting]) -> bool:
        """Say whether this phase is done in a cell."""
        if self.without and _has(levels, self.without):
            return False
        return all(levels.get(name) == level for name, level in self.only.items())

    def accepts(self, option: str) -> bool:
        """Say whether this phase's workload has such an option that may be replaced."""
        return option in WORKLOADS[self.workload].model_fields and option not in self.fixed


class Profile(Model):
    """How big a run is."""

    trials: Positive = 3
    """Trials a cell."""
    trial_seconds: Annotated[float, Field(gt=0)]
    """Estimated length of one trial on 2 cores, used until this machine has measured its own."""
    dataset: dict[str, Any] = Field(default_factory=dict)
    """Dataset parameters that replace the declared ones."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Workload options that replace those of every phase that has them."""
    factors: dict[Name, Levels] = Field(default_factory=dict)
    """Levels that replace the declared ones."""
    without: list[dict[Name, Choice]] = Field(default_factory=list)
    """Cells that this profile has no time for, besides those that the experiment leaves out. One that names a
    factor of ``--set`` leaves nothing out: what is asked for is done."""
    in_place: dict[Name, dict[Name, Setting]] = Field(default_factory=dict)
    """Factor → level that claims name → level that this profile runs in its place, such as ``workers = { 100 = 12 }``
    where the publication had eight times the cores. Claims are judged at these levels, and their verdicts name them."""


class Experiment(Model):
    """A question and the runs that answer it."""

    title: Text
    question: Text
    """One sentence that ends with a question mark."""
    dataset: Name
    factors: dict[Name, Levels]
    without: list[dict[Name, Choice]] = Field(default_factory=list)
    """Cells that make no sense and are left out: those that have one of the levels given of each factor named."""
    phases: list[Phase] = Field(min_length=1)
    profiles: dict[Name, Profile] = Field(min_length=1)
    claims: list[Claim] = Field(default_factory=list)
    """Published statements that a run is held against; declared before the run."""
    published_machine: PublishedMachine | None = None
    """The machine of the publication."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if "system" not in self.factors:
            raise ValueError("factors needs the key system: a list of names of systems/*.toml")
        if not self.question.endswith("?"):
            raise ValueError("question must be one sentence that ends with a question mark")
        self._check_without("without", self.without)
        for name, profile in self.profiles.items():
            self._check_without(f'profiles "{name}": without', profile.without)
        names = [phase.name for phase in self.phases]
        kinds = [phase.workload for phase in self.phases]
        if "query" in kinds and "load" not in kinds[: kinds.index("query")]:
            raise ValueError(f'phases: "{names[kinds.index("query")]}" asks before any phase has loaded data')
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"phases: the name {twice[0]} is given twice")
        self._check_only()
        for phase in self.phases:
            self._check_without(f'phases "{phase.name}": without', [phase.without])
        check_claims(self.claims, self.levels(), {phase.name: phase.workload for phase in self.phases})
        return self

    def leaves_out(
        self, levels: Mapping[str, Setting], profile: Profile | None = None, chosen: Collection[str] = ()
    ) -> bool:
        """Say whether cells of these levels are left out: ``without`` names one of each of its factors.

        That of a profile counts where it names no factor that was ``chosen`` by the user.
        """
        small = [one for one in profile.without if not one.keys() & set(chosen)] if profile else []
        return any(_has(levels, one) for one in (*self.without, *small))

    def _check_without(self, place: str, without: list[dict[str, Choice]]) -> None:
        for name in {name: None for one in without for name in one}:
            if name not in self.levels():
                guess = suggestion(name, self.levels())
                raise ValueError(f'{place}: there is no factor "{name}"{guess}')

    def _check_only(self) -> None:
        levels = self.levels()
        for phase in self.phases:
            for name, level in phase.only.items():
                place = f'phases "{phase.name}": only: '
                if name not in levels:
                    guess = suggestion(name, levels)
                    raise ValueError(f'{place}"{name}" is no factor of {", ".join(sorted(levels))}{guess}')
                if level not in levels[name]:
                    known = ", ".join(str(one) for one in levels[name])
                    raise ValueError(f'{place}"{level}" is no level of {name}; it has {known}')

    def levels(self) -> dict[str, list[Setting]]:
        """Return every level that a factor has in any profile."""
        merged: dict[str, list[Setting]] = {"arm": ["vanilla"], "storage": ["local"], **self.factors}
        for profile in self.profiles.values():
            for name, levels in profile.factors.items():
                merged[name] = [*merged.get(name, []), *levels]
        return {name: list(dict.fromkeys(levels)) for name, levels in merged.items()}


def _has(levels: Mapping[str, Setting], wanted: Mapping[str, Choice]) -> bool:
    """Say whether levels hold one of each factor of ``wanted``."""
    return all(name in levels and text(levels[name]) in listed(held) for name, held in wanted.items())
