"""Experiments: question, factors, phases, profiles and claims. File: ``experiments/<slug>/experiment.toml``."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, cast

from pydantic import Field, model_validator

from benchbook.declare.claim import Choice, Claim, PublishedMachine, check_claims
from benchbook.declare.level import Setting, listed, text
from benchbook.declare.publication import Publication
from benchbook.declare.toml import Model, Name, Positive, Text, check
from benchbook.declare.workload import Options, having, workload, workloads
from benchbook.errors import RequestError, suggestion, unknown

LIMIT_FACTORS = ("memory_limit", "cpu_limit", "pinning", "core", "address_layout", "environment_bytes")
"""Factors of how the system's processes start, such as with a limit; any experiment may declare them."""

NONE = "none"
"""Level that sets no limit."""

Pinning = Literal["auto", "off", "always"]
"""Separate cores for server and client: ``auto`` if there are enough, ``always`` from 2 cores on."""
PINNINGS: tuple[Pinning, ...] = ("auto", "off", "always")

Layout = Literal["random", "fixed"]
"""Where the kernel places a process in its address space: at other addresses each time, or always at the same ones."""
LAYOUTS: tuple[Layout, ...] = ("random", "fixed")
ANY = "any"
"""Level of ``core`` that allows all cores."""
MOST_ENVIRONMENT_BYTES = 100_000
"""Largest padding of the environment; the kernel's limit of one variable is 128 KiB."""

LEAST_MEMORY_BYTES = 1 << 20
_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True)
class Limits:
    """How the processes of a system start in one trial; None means no limit."""

    memory_bytes: int | None = None
    """Memory including the page cache; the processes do not swap."""
    cpu_cores: float | None = None
    """Processor seconds per second."""
    pinning: Pinning = "auto"
    core: int | None = None
    """The only core of the system's processes, by its place among the usable ones; 0 is the first."""
    layout: Layout = "random"
    environment_bytes: int = 0
    """Bytes that are added to the environment of the processes: they move everything on their stack."""

    @property
    def around(self) -> bool:
        """True if a process must start in other surroundings than usual, which only Benchbook's own starts have."""
        return self.core is not None or self.layout != "random" or self.environment_bytes > 0

    @property
    def any(self) -> bool:
        """True if the limits need a control group."""
        return self.memory_bytes is not None or self.cpu_cores is not None

    def describe(self) -> str:
        """Return the limits for a message: ``memory_limit 268435456 B, cpu_limit 0.5``."""
        memory = [] if self.memory_bytes is None else [f"memory_limit {self.memory_bytes} B"]
        return ", ".join([*memory, *([] if self.cpu_cores is None else [f"cpu_limit {self.cpu_cores:g}"])])


def limits(levels: dict[str, Any]) -> Limits:
    """Return the limits among the levels of a cell; raise ValueError for an invalid one.

    >>> limits({"system": "sqlite", "memory_limit": "256MiB", "cpu_limit": 0.5})
    Limits(memory_bytes=268435456, cpu_cores=0.5, pinning='auto', core=None, layout='random', environment_bytes=0)
    """
    pinning = levels.get("pinning", "auto")
    if pinning not in PINNINGS:
        raise ValueError(f'pinning is "{pinning}"; allowed: {", ".join(PINNINGS)}')
    return Limits(
        _memory_bytes(levels.get("memory_limit", NONE)),
        _cpu_cores(levels.get("cpu_limit", NONE)),
        cast("Pinning", pinning),
        _core(levels),
        _layout(levels.get("address_layout", "random")),
        _environment_bytes(levels.get("environment_bytes", 0)),
    )


def _core(levels: Mapping[str, Any]) -> int | None:
    level = levels.get("core", ANY)
    if level == ANY:
        return None
    if not _is_number(level, 4095):
        raise ValueError(f'core is "{level}"; write "any", or the place of a core, such as 0 for the first')
    if levels.get("pinning", "auto") != "auto":
        raise ValueError(
            f'core {level} and pinning "{levels["pinning"]}" both choose cores; leave out one of them'
        )
    return int(level)


def _layout(level: Setting) -> Layout:
    if level not in LAYOUTS:
        raise ValueError(f'address_layout is "{level}"; allowed: {", ".join(LAYOUTS)}')
    return level


def _environment_bytes(level: Setting) -> int:
    if not _is_number(level, MOST_ENVIRONMENT_BYTES):
        raise ValueError(
            f'environment_bytes is "{level}"; write a number of bytes from 0 to {MOST_ENVIRONMENT_BYTES:,}'
        )
    return int(level)


def _is_number(level: Setting, most: int) -> bool:
    return (
        not isinstance(level, bool)
        and re.fullmatch(r"\d{1,6}", str(level)) is not None
        and int(level) <= most
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
        raise ValueError(f'memory_limit is "{level}"; the smallest limit is 1MiB')
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
            f'cpu_limit is "{level}"; write "none", or a number of cores, at least 0.01, such as 0.5'
        )
    return cores


PLACE_FACTORS = ("system", "arm", "storage")
"""Factors that choose what is tested and where; every other factor is a limit, an option or a dataset parameter."""

Levels = Annotated[list[Setting], Field(min_length=1)]


ENDS = frozenset({"duration", "queries", "operations"})
"""Options that say when a phase ends; a phase has one of them."""


def merged(options: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with changes. A duration replaces a number of operations, and the other way round."""
    ended_otherwise = ENDS if changes.keys() & ENDS else ()
    return {**{name: value for name, value in options.items() if name not in ended_otherwise}, **changes}


class Phase(Model):
    """One timed step of a trial."""

    name: Name
    """Name of the phase, unique in the experiment."""
    workload: Name
    """Name of the workload, such as ``load`` or ``query``: a module of ``benchbook/workloads`` or
    a plug-in."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the workload."""
    fixed: list[Name] = Field(default_factory=list)
    """Options that no factor and no profile replaces. Example: ``["workers"]`` for queries if ``workers`` is a
    factor of the load."""
    only: dict[Name, Setting] = Field(default_factory=dict)
    """Factor → level: the phase runs only in cells with these levels. Example: ``{cache = "warm"}`` for a load
    that the cells with cold queries do not need."""
    without: dict[Name, Choice] = Field(default_factory=dict)
    """Factor → level or list of levels: cells that have one level of each factor skip the phase. Example: queries
    that one arm of a system cannot answer."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.workload not in workloads():
            guess = suggestion(self.workload, workloads())
            raise ValueError(
                f'workload "{self.workload}" does not exist; allowed: {", ".join(sorted(workloads()))}{guess}'
            )
        self.typed(self.options)
        for option in self.fixed:
            if option not in self.model.model_fields:
                guess = suggestion(option, self.model.model_fields)
                raise ValueError(f'fixed: the workload "{self.workload}" has no option "{option}"{guess}')
        return self

    @functools.cached_property
    def model(self) -> type[Options]:
        """The model of the workload's options."""
        return workload(self.workload).options

    def typed(self, options: dict[str, Any]) -> Options:
        """Return ``options``, checked by the workload's model."""
        return check(options, self.model, f'options of the phase "{self.name}"')

    def replaced(self, changes: Mapping[str, Any]) -> Options:
        """Return the options with those of a profile or a cell that this phase accepts, as ``merged`` does it."""
        accepted = {name: value for name, value in changes.items() if self.accepts(name)}
        return self.typed(merged(self.options, accepted))

    def done_at(self, levels: dict[str, Setting]) -> bool:
        """Return whether this phase runs in a cell."""
        if self.without and _has(levels, self.without):
            return False
        return all(levels.get(name) == level for name, level in self.only.items())

    def accepts(self, option: str) -> bool:
        """Return whether the workload has this option and a factor or profile may replace it."""
        return option in self.model.model_fields and option not in self.fixed


class Profile(Model):
    """The size of a run: ``smoke``, ``quick`` or ``published``."""

    trials: Positive = 3
    """Trials of each cell."""
    trial_seconds: Annotated[float, Field(gt=0)]
    """Estimated length of one trial on 2 cores, in seconds; used until this machine has measured its own."""
    dataset: dict[str, Any] = Field(default_factory=dict)
    """Dataset parameters that replace the declared ones."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Workload options; they replace those of every phase that has them."""
    phase_options: dict[Name, dict[str, Any]] = Field(default_factory=dict)
    """Phase → options of this phase alone, such as ``fio-write = { size = "8g" }``; they win over ``options``."""
    phases: list[Name] = Field(default_factory=list)
    """Phases that this profile runs, such as ``["put", "get"]``; without this key, all of them."""
    factors: dict[Name, Levels] = Field(default_factory=dict)
    """Factor → levels that replace the declared ones."""
    without: list[dict[Name, Choice]] = Field(default_factory=list)
    """Cells that this profile skips to save time, in addition to those that the experiment skips. An entry that
    names a factor of ``--set`` has no effect."""
    in_place: dict[Name, dict[Name, Setting]] = Field(default_factory=dict)
    """Factor → level that claims name → level that this profile runs in its place, such as ``workers = { 100 = 12 }``
    where the publication had eight times the cores. Claims are judged at these levels, and their reasons name them,
    unless the run has every case of a claim at its published levels too."""

    def options_of(self, phase: Phase) -> dict[str, Any]:
        """Return the options that replace those of a phase."""
        return merged(self.options, self.phase_options.get(phase.name, {}))


class Experiment(Model):
    """A question and the runs that answer it."""

    title: Text
    """Title in reports."""
    question: Text
    """One sentence that ends with a question mark."""
    dataset: Name
    """Dataset: a name in ``datasets/``."""
    factors: dict[Name, Levels]
    """Factor → its levels. ``system`` is required; ``arm`` and ``storage`` have defaults."""
    without: list[dict[Name, Choice]] = Field(default_factory=list)
    """Cells to skip: those that have one of the given levels of each factor in an entry."""
    phases: list[Phase] = Field(min_length=1)
    """Timed steps of a trial, in order."""
    profiles: dict[Name, Profile] = Field(min_length=1)
    """Sizes of a run by name."""
    claims: list[Claim] = Field(default_factory=list)
    """Published statements that Benchbook compares with a run; declared before the run."""
    published_machine: PublishedMachine | None = None
    """The machine of the publication."""
    publication: Publication | None = None
    """The publication that this experiment reruns; without it, the experiment is a test of the tool."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if "system" not in self.factors:
            raise ValueError(
                "`factors` needs the key `system`: a list of names of systems/*.toml, such as sqlite"
            )
        if not self.question.endswith("?"):
            raise ValueError("question must be one sentence that ends with a question mark")
        self._check_without("without", self.without)
        for name, profile in self.profiles.items():
            self._check_without(f'profiles "{name}": without', profile.without)
        names = [phase.name for phase in self.phases]
        kinds = [phase.workload for phase in self.phases]
        asking, loading = having(lambda one: one.queries), having(lambda one: one.loads)
        first = next((place for place, kind in enumerate(kinds) if kind in asking), 0)
        if kinds[first] in asking and not set(loading) & set(kinds[:first]):
            raise ValueError(f'phases: "{names[first]}" runs queries before any phase has loaded data')
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"phases: two phases have the name {twice[0]}")
        self._check_only()
        self._check_named()
        for name, profile in self.profiles.items():
            _check_phases(f'profiles "{name}": phases', profile.phases, names)
            _check_phases(f'profiles "{name}": phase_options', profile.phase_options, names)
            self._check_options(f'profiles "{name}"', profile)
        for phase in self.phases:
            self._check_without(f'phases "{phase.name}": without', [phase.without])
        check_claims(
            self.claims, self.levels(), {phase.name: phase.workload for phase in self.phases},
            {name for profile in self.profiles.values() for name in profile.dataset},
        )  # fmt: skip
        return self

    def _check_options(self, where: str, profile: Profile) -> None:
        for phase in self.phases:
            runs = phase.name in (profile.phases or [phase.name])
            alone = profile.phase_options.get(phase.name)
            if alone is not None:
                there = f'{where}: phase_options: "{phase.name}"'
                if not runs:
                    run = ", ".join(profile.phases)
                    raise ValueError(f"{there}: the profile does not run this phase; it runs: {run}")
                allowed = [name for name in phase.model.model_fields if phase.accepts(name)]
                for option in alone:
                    if option in phase.fixed:
                        raise ValueError(f'{there}: the phase keeps its "{option}" in every profile (fixed)')
                    if option not in allowed:
                        raise ValueError(
                            f'{there}: the workload "{phase.workload}" has no option "{option}"; '
                            f"allowed: {', '.join(allowed)}{suggestion(option, allowed)}"
                        )
            if runs:
                try:
                    phase.replaced(profile.options_of(phase))
                except RequestError as error:
                    raise RequestError(f"{where}: {error.message}", error.hint) from None

    def leaves_out(
        self, levels: Mapping[str, Setting], profile: Profile | None = None, chosen: Collection[str] = ()
    ) -> bool:
        """Return whether the run skips cells of these levels, because of ``without``.

        An entry of the profile has no effect if it names a factor that the user has ``chosen``.
        """
        of_profile = [entry for entry in profile.without if not entry.keys() & set(chosen)] if profile else []
        return any(_has(levels, entry) for entry in (*self.without, *of_profile))

    def _check_without(self, place: str, without: list[dict[str, Choice]]) -> None:
        for name in {name: None for one in without for name in one}:
            if name not in self.levels():
                raise unknown("factor", name, self.levels(), place)

    def _check_only(self) -> None:
        levels = self.levels()
        for phase in self.phases:
            for name, level in phase.only.items():
                place = f'phases "{phase.name}": only'
                if name not in levels:
                    raise unknown("factor", name, levels, place)
                if level not in levels[name]:
                    known = ", ".join(str(one) for one in levels[name])
                    raise ValueError(f'{place}: "{level}" is not a level of {name}; allowed: {known}')

    def _check_named(self) -> None:
        """Refuse names for a system or an arm that the experiment does not have."""
        if self.publication is None:
            return
        levels, stated = self.levels(), self.publication
        for key, factor, names in (
            ("systems", "system", stated.systems), ("configurations", "arm", stated.configurations)
        ):  # fmt: skip
            allowed = [str(one) for one in levels[factor]]
            for name in names:
                if name not in allowed:
                    raise unknown(factor, name, allowed, f"publication: {key}")

    def levels(self) -> dict[str, list[Setting]]:
        """Return each factor with all levels that it has in any profile."""
        merged: dict[str, list[Setting]] = {"arm": ["vanilla"], "storage": ["local"], **self.factors}
        for profile in self.profiles.values():
            for name, levels in profile.factors.items():
                merged[name] = [*merged.get(name, []), *levels]
        return {name: list(dict.fromkeys(levels)) for name, levels in merged.items()}


def _check_phases(where: str, given: Iterable[str], allowed: Sequence[str]) -> None:
    for name in given:
        if name not in allowed:
            raise unknown("phase", name, allowed, where)


def _has(levels: Mapping[str, Setting], wanted: Mapping[str, Choice]) -> bool:
    """Return whether ``levels`` has one of the wanted levels of each factor."""
    return all(name in levels and text(levels[name]) in listed(held) for name, held in wanted.items())
