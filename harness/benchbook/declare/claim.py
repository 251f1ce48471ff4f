"""Claims: published statements, their numbers and the test of each. Table ``[[claims]]`` of an experiment.

A claim compares two sides, ``of`` and ``over`` (levels of factors), or follows one metric ``along`` a factor.
Benchbook tests it jointly in all cells that the other factors span.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from benchbook.declare.correction import Correction
from benchbook.declare.level import Setting, listed, ordered
from benchbook.declare.metric import TRIAL, metrics
from benchbook.declare.toml import Model, Name, Positive, Text
from benchbook.declare.workload import workloads
from benchbook.errors import command, suggestion

Side = dict[Name, Setting]
"""Factor → level of one side of a comparison."""
Number = Annotated[float, Field(ge=1e-30, le=1e30, allow_inf_nan=False)]
Column = Annotated[str, StringConstraints(min_length=1)]
File = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*\.csv$")]
"""Name of a file of published results."""
Choice = Setting | Annotated[list[Setting], Field(min_length=1)]
"""A level, or a list of levels."""


class PublishedCell(Model):
    """The published number of one cell: a ratio, or the two values that it divides."""

    levels: Side
    """The cell: a level of each factor in ``across`` (and ``along``)."""
    ratio: Number | None = None
    """Published ratio, ``of`` divided by ``over``."""
    of: Number | None = None
    """Published value of the side ``of``; for ``rises`` and ``falls``, the value at this level."""
    over: Number | None = None
    """Published value of the side ``over``."""


class Published(Model):
    """The published numbers, in one of four ways: ``ratio``; ``of`` and ``over``; ``file``; ``cells``."""

    ratio: Number | None = None
    """The ratio as published."""
    of: Number | None = None
    """Published value of the side ``of``; for ``rises`` and ``falls``, at the last level."""
    over: Number | None = None
    """Published value of the side ``over``; for ``rises`` and ``falls``, at the first level."""
    unit: str | None = None
    """Unit of ``of`` and ``over``, as published; required with them."""
    cells: list[PublishedCell] = Field(default_factory=list)
    """One published number for each cell."""
    file: File | None = None
    """A CSV file in ``datasets/published``; the claim uses every row that ``select`` matches."""
    select: dict[Column, Setting] = Field(default_factory=dict)
    """Column → value that the rows of both sides must have."""
    of_rows: dict[Column, Setting] = Field(default_factory=dict)
    """Column → value of the rows of the side ``of``. Default: the levels of ``of``, factors as column names."""
    over_rows: dict[Column, Setting] = Field(default_factory=dict)
    """Column → value of the rows of the side ``over``. Default: the levels of ``over``, factors as column names."""
    columns: dict[Name, Column] = Field(default_factory=dict)
    """Factor → column that holds its level; needed only if the column's name differs from the factor's."""
    repeats: list[Column] = Field(default_factory=list)
    """Columns that number repetitions of a measurement; the claim uses the geometric mean of the repetitions."""
    value: Column = "value"
    """Column of the number."""

    def values(self) -> set[float]:
        """Return the published values that are written here, not in a file."""
        given = {self.of, self.over, *(value for cell in self.cells for value in (cell.of, cell.over))}
        return {value for value in given if value is not None}

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        given = [
            way
            for way, there in (
                ("ratio", self.ratio is not None),
                ("of and over", self.of is not None or self.over is not None),
                ("file", self.file is not None),
                ("cells", bool(self.cells)),
            )
            if there
        ]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(
                f"needs exactly one of `ratio`, `cells`, `file`, or both `of` and `over`; found {found}"
            )
        if (self.of is None) != (self.over is None):
            raise ValueError("`of` and `over` belong together: give both values, or their `ratio`")
        if self.of is not None and not self.unit:
            raise ValueError('`of` and `over` need the key `unit`, such as unit = "1/s"')
        if self.file is None:
            for key in ("select", "of_rows", "over_rows", "columns", "repeats"):
                if getattr(self, key):
                    raise ValueError(f"`{key}` selects rows of a file, but the key `file` is missing")
        return self


class Precondition(Model):
    """What must be true of a run before a claim can be tested on it.

    It is about a metric, the level of a factor, the only error of failed operations, or the kind of machine. Where it
    is not true, the claim is "out of reach here": neither confirmed nor contradicted.
    """

    metric: Name | None = None
    """A metric whose median over the trials of a setup must keep the bound."""
    phase: Name | None = None
    """Phase of the metric; by default that of the claim."""
    factor: Name | None = None
    """A factor whose level, a number, must keep the bound."""
    at_least: Number | None = None
    """The least value, in the unit of the metric."""
    at_most: Number | None = None
    """The largest value."""
    error: Text | None = None
    """The only error that operations of the claim's phase may fail with: a part of its message."""
    machine: Literal["physical"] | None = None
    """The kind of machine that the run must be on."""
    side: Literal["both", "of", "over"] = "both"
    """Whose setups must keep it."""
    where: dict[Name, Choice] = Field(default_factory=dict)
    """Factor → level, or list of levels: the cases that need it. By default, all of them."""
    why: Text
    """Why the claim cannot be tested otherwise, as a sentence."""

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        self._check_one("metric", "factor", "error", "machine")
        if self.metric is not None or self.factor is not None:
            self._check_one("at_least", "at_most")
        elif self.at_least is not None or self.at_most is not None:
            raise ValueError("`at_least` and `at_most` are bounds of `metric` and `factor`")
        if self.metric is None and self.phase is not None:
            raise ValueError("`phase` belongs to `metric`")
        return self

    def _check_one(self, *names: str) -> None:
        given = [name for name in names if getattr(self, name) is not None]
        if len(given) != 1:
            allowed = f"{', '.join(f'`{name}`' for name in names[:-1])} and `{names[-1]}`"
            raise ValueError(f"needs exactly one of {allowed}; found {' and '.join(given) or 'none'}")

    def keeps(self, value: float) -> bool:
        """Return whether a value keeps the bound."""
        if self.at_least is not None:
            return value >= self.at_least
        assert self.at_most is not None
        return value <= self.at_most


class PublishedMachine(Model):
    """The machine of the publication. Reports label the profile ``published`` as scaled on a smaller machine."""

    cores: Positive
    """Logical processors of the system under test."""
    memory_gb: Number
    """Memory of the system under test, in GB."""
    description: Text | None = None
    """The machine as the publication describes it."""


PHASE = "phase"
"""Name under which the phases of a claim are in ``across``, and in the levels of its cases."""
OWN = "Not published:"
"""Start of the statement of a question that the publication did not ask."""
MARGIN = 0.1
"""Default equivalence margin: 10 % in either direction."""

Test = Literal["ratio", "equal", "at-least", "at-most", "rises", "falls", "agree"]
ONE_SIDED = ("at-least", "at-most")
TRENDS = ("rises", "falls")
Share = Literal["all", "most", "any"]


def least(share: Share, total: int) -> int:
    """Return in how many of several cells a claim must hold."""
    return {"all": total, "most": total // 2 + 1, "any": 1}[share]


class Claim(Model):
    """A published statement that Benchbook compares with a run."""

    id: Name
    """Name of the claim, unique in the experiment."""
    statement: Text
    """The statement of the publication, with its meaning unchanged."""
    source: Text
    """The place in the publication."""
    test: Test
    """``ratio``: the ratio of ``of`` over ``over`` is the published one. ``equal``: the two do not differ.
    ``at-least``, ``at-most``: the ratio is no smaller (no larger) than the published one; 1 means "higher"
    ("lower"). ``rises``, ``falls``: from the first to the last level of ``along``. ``agree``: both sides give the
    same answers to the queries of the phase."""
    phase: Name
    """Phase of the metric; ``trial`` for the whole trial."""
    phases: list[Name] = Field(default_factory=list)
    """Phases whose cases one claim is about, such as all questions of a publication, in place of ``phase``. ``across``
    then has ``phase``."""
    conclusion: Positive | None = None
    """The place of this claim among the conclusions of the publication: 1 for the first. Pages begin with that one."""
    counted_with: (
        Annotated[str, StringConstraints(pattern=r"^([a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$")] | None
    ) = None
    """Id of the claim that states the same, for other cases or with another method (of another experiment:
    ``experiment/id``). What was published once is counted once."""
    metric: Name
    """Metric that the claim is about, such as ``rows_per_second``."""
    of: Side = Field(default_factory=dict)
    """Factor → level of the ratio's numerator."""
    over: Side = Field(default_factory=dict)
    """Factor → level of the ratio's denominator."""
    over_metric: Name | None = None
    """Another metric of the same trials as the denominator, in place of ``over``: a rate as a share of a limit."""
    along: Name | None = None
    """Factor that ``rises`` and ``falls`` follow. Its levels are numbers, sizes or durations, which order them."""
    monotonic: bool = False
    """True if every step along the factor must go the same way."""
    by_at_least: Number | None = None
    """Smallest factor by which the metric must rise (or fall) from the first level to the last."""
    where: dict[Name, Choice] = Field(default_factory=dict)
    """Factor → level, or list of levels, that both sides must have."""
    across: list[Name] = Field(default_factory=list)
    """Factors that distinguish the published cells."""
    in_cells: Share = "all"
    """In how many cells the claim must hold: all, more than half, or at least one."""
    published: Published | None = None
    words: Literal["much", "slightly", "little"] | None = None
    """A size that the publication states in a word: ``much`` (at-least, at-most) is a factor of 1.5 or more,
    ``slightly`` (at-least, at-most) one of 1.02 to 1.2, ``little`` one below 1.1, either way (equal) or in the way that
    at-least and at-most name. Published numbers beside it are shown and not tested."""
    margin: Annotated[float, Field(ge=0, le=1)] = MARGIN
    """Equivalence margin: 0.1 lets a ratio lie between 1/1.1 and 1.1 times the published one. One-sided tests
    (at-least, at-most) have none by default."""
    at: dict[Name, Choice] = Field(default_factory=dict)
    """Levels at which it was published, and options of its phase and parameters of the dataset that are no factors; a
    run with others is judged, and its reason names the difference."""
    validity: Literal["trial", "phase"] = "trial"
    """Which trials count: ``trial``, those in which everything is valid; ``phase``, also those of which this phase
    was measured to its end and lost nothing that was acknowledged. Defects elsewhere are then shown beside it."""
    published_spread: Annotated[float, Field(gt=0, le=1)] | None = None
    """Standard deviation from run to run of a published ratio that comes from one run, as a share. The reason then
    says whether the published number is consistent with ours."""
    better: Literal["higher", "lower"] | None = None
    """Which values of the metric are better. Default: the direction of the metric."""
    versions: dict[Name, Text] = Field(default_factory=dict)
    """System → version it must have stated, where its name does not hold the version."""
    accepts: dict[Name, Name] = Field(default_factory=dict)
    """System that the claim names → another version of the same product that counts as it. Where the run lacks the
    first, the second is judged, and the reason names it."""
    substitutes: dict[Name, Name] = Field(default_factory=dict)
    """System that the claim names → system that replaces it. It is shown, and the answer is "out of reach here"."""
    underspecified: Text | None = None
    """Information that a rerun needs and the publication omits; the answer is then "not comparable"."""
    requires: list[Precondition] = Field(default_factory=list)
    """What must be true of a run before the claim can be tested on it; else the answer is "out of reach here"."""
    corrected: list[Correction] = Field(default_factory=list)
    """Corrections of this claim, the oldest first. Runs that began before the last one are judged by the corrected
    claim, and their reason says that it was declared after them."""
    added: bool = False
    """True if the claim itself is its first correction: runs that did not declare it are judged by it, too."""
    unstated: list[Name] = Field(default_factory=list)
    """Factors for what the publication omits. If a run has two or more levels of each, Benchbook tests the claim at
    all of them; the answer is "not comparable" only if it differs between levels."""

    @model_validator(mode="before")
    @classmethod
    def _one_sided_margin(cls, given: Any) -> Any:
        """Give a one-sided test no margin by default: "faster" is not met by a little slower."""
        if isinstance(given, dict) and "margin" not in given and given.get("test") in ONE_SIDED:
            return {**given, "margin": 0.0}
        return given

    @model_validator(mode="before")
    @classmethod
    def _same_levels(cls, given: Any) -> Any:
        """Compare two metrics at the levels of ``of``."""
        if isinstance(given, dict) and given.get("over_metric") is not None and "over" not in given:
            return {**given, "over": given.get("of", {})}
        return given

    @model_validator(mode="before")
    @classmethod
    def _first_phase(cls, given: Any) -> Any:
        """Let the first of several phases stand for all where one is asked for."""
        phases = given.get("phases") if isinstance(given, dict) else None
        if isinstance(phases, list) and phases and "phase" not in given:
            return {**given, "phase": phases[0]}
        return given

    def at_case(self, levels: Mapping[str, str]) -> Claim:
        """Return the claim on the phase of a case; itself if it has one phase."""
        return self.model_copy(update={"phase": levels[PHASE]}) if self.phases else self

    @property
    def own(self) -> bool:
        """True if it is a question of ours, which the publication did not ask."""
        return self.statement.startswith(OWN)

    @property
    def trend(self) -> bool:
        """True if the claim follows a factor."""
        return self.test in TRENDS

    @property
    def pair(self) -> tuple[str, str]:
        """Phase and metric of the side ``of``."""
        return self.phase, self.metric

    @property
    def below(self) -> tuple[str, str]:
        """Phase and metric of the side ``over``."""
        return self.phase, self.over_metric or self.metric

    def systems(self) -> list[str]:
        """Return the systems that the claim names."""
        named = [self.of.get("system"), self.over.get("system")]
        held = self.where.get("system", [])
        named += held if isinstance(held, list) else [held]
        return list(dict.fromkeys(str(name) for name in named if name is not None))

    @model_validator(mode="after")
    def _whole(self) -> Self:
        (self._check_trend if self.trend else self._check_sides)()
        self._check_size()
        self._check_phases()
        if self.unstated and self.underspecified is None:
            raise ValueError(
                "`unstated` needs the key `underspecified`: a sentence on what the publication omits"
            )
        sides = {*self.of, *self.over}
        for key, names in (("where", self.where), ("across", self.across), ("unstated", self.unstated)):
            both = sorted(sides.intersection(names))
            if both:
                raise ValueError(
                    f"{key}: the factor {both[0]} is already in `of` or `over`; remove it from `{key}`"
                )
        return self

    def _check_size(self) -> None:
        if self.margin == 0 and self.test not in ONE_SIDED:
            raise ValueError(f'margin = 0: test "{self.test}" needs a margin above 0, such as {MARGIN:g}')
        tests = {"much": ONE_SIDED, "slightly": ONE_SIDED, "little": ("equal", *ONE_SIDED)}
        if self.words is not None and self.test not in tests[self.words]:
            raise ValueError(
                f'words = "{self.words}" belongs to test {" or ".join(tests[self.words])}; found test "{self.test}"'
            )
        if self.words is not None and self.published is not None and self.published.ratio not in (None, 1):
            raise ValueError(
                f'words = "{self.words}" takes the place of a published number; remove the key `published`'
            )

    def _check_phases(self) -> None:
        if twice := next((one for one in self.phases if self.phases.count(one) > 1), None):
            raise ValueError(f'`phases` names "{twice}" twice: each is one case')
        if bool(self.phases) != (PHASE in self.across):
            raise ValueError(f'`phases` and across = ["{PHASE}"] belong together: add or remove one of them')
        if self.phases and (self.trend or self.test == "agree" or self.validity == "phase"):
            raise ValueError(
                'a claim with `phases` compares two sides of valid trials; remove `phases`, or the test "agree", '
                '"rises" or "falls", or validity = "phase"'
            )
        if self.added and not self.corrected:
            raise ValueError("`added` needs the key `corrected`: the date, and why the claim was added")
        if self.phases and self.phase != self.phases[0]:
            raise ValueError("`phases` takes the place of `phase`; remove `phase`")
        if self.own and (self.conclusion or self.counted_with):
            raise ValueError("a question of our own is no `conclusion` and counts with none (`counted_with`)")

    def _check_trend(self) -> None:
        if self.over_metric is not None:
            raise ValueError(f'test "{self.test}" follows one metric; remove the key `over_metric`')
        if self.along is None or self.over:
            raise ValueError(f'test "{self.test}" needs along = "<factor>" and must not have the key `over`')
        if self.by_at_least is not None and self.by_at_least < 1:
            raise ValueError(
                f"by_at_least = {self.by_at_least:g} is below 1; write the factor of the rise or fall, such as 1.5"
            )
        if self.along in {*self.of, *self.where, *self.across}:
            raise ValueError(
                f"along: the factor {self.along} is also in `of`, `where` or `across`; remove it there"
            )

    def _check_sides(self) -> None:
        if self.along is not None or self.monotonic or self.by_at_least is not None:
            raise ValueError('`along`, `monotonic` and `by_at_least` belong to the tests "rises" and "falls"')
        if not self.of or self.of.keys() != self.over.keys():
            raise ValueError(
                f'test "{self.test}" needs `of` and `over` with the same factors;'
                f" `of` has {_listing(self.of)}, `over` has {_listing(self.over)}"
            )
        if self.over_metric is not None and (self.of != self.over or self.over_metric == self.metric):
            raise ValueError(
                "`over_metric` is another metric at the levels of `of`; it takes the place of `over`"
            )
        if self.requires and self.test == "agree":
            raise ValueError(
                'test "agree" compares answers, which need no precondition; remove the key `requires`'
            )
        if self.over_metric is not None and self.test == "agree":
            raise ValueError('test "agree" compares answers; remove the key `over_metric`')
        if self.of == self.over and self.over_metric is None:
            raise ValueError(f"`of` and `over` are the same; `{command('aa')}` compares a system with itself")
        if (
            self.published is None
            and self.test not in ("equal", "agree")
            and self.words is None
            and self.underspecified is None
        ):
            raise ValueError(f'test "{self.test}" needs the key `published` or `words`')


def _listing(names: Side) -> str:
    return ", ".join(sorted(names)) or "none"


def check_claims(
    claims: list[Claim],
    factors: Mapping[str, list[Setting]],
    phases: Mapping[str, str],
    parameters: Collection[str] = (),
) -> None:
    """Check that an experiment has every name that its claims use; raise ValueError with the nearest name.

    ``factors`` maps each factor to all its levels, ``phases`` each phase to its workload; ``parameters`` are those of
    the dataset that profiles replace.
    """
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise ValueError(f"claims: two claims have the id {claim.id}; rename one of them")
        seen.add(claim.id)
        place = f'claims "{claim.id}"'
        _check_metric(claim, phases, place)
        if claim.counted_with is not None and "/" not in claim.counted_with:
            _known(
                claim.counted_with,
                (one.id for one in claims if one.counted_with is None),
                f"{place}: counted_with: claim",
            )
        _check_requires(claim, factors, phases, place)
        _check_levels(claim, factors, place)
        for name in claim.at:  # the publication's level may be one that no profile runs
            allowed = {*factors, *_options(claim, phases), *parameters}
            _known(name, allowed, f"{place}: at: factor, option or parameter")
        for key, factor in [
            *(("across", name) for name in claim.across if name != PHASE),
            ("along", claim.along),
            *(("unstated", name) for name in claim.unstated),
        ]:
            if factor is not None:
                _known(factor, factors, f"{place}: {key}: factor")
        if claim.along is not None:
            try:
                ordered(listed(factors[claim.along]))
            except ValueError as error:
                raise ValueError(f"{place}: along: {claim.along}: {error}; choose another factor") from error
        _check_systems(claim, [str(level) for level in factors["system"]], place)


def _options(claim: Claim, phases: Mapping[str, str]) -> Iterator[str]:
    """Yield the options of the phases of a claim."""
    for phase in claim.phases or [claim.phase]:
        if (named := workloads().get(phases.get(phase, ""))) is not None:
            yield from named.options.model_fields


def _check_metric(claim: Claim, phases: Mapping[str, str], place: str) -> None:
    for phase in claim.phases or [claim.phase]:
        _known(phase, [*phases, TRIAL], f"{place}: phase")
        known = metrics(phases.get(phase))
        for metric in (claim.metric, claim.over_metric):
            if known is not None and metric is not None:
                _known(metric, known, f"{place}: metric of the phase {phase}")


def _check_requires(
    claim: Claim, factors: Mapping[str, list[Setting]], phases: Mapping[str, str], place: str
) -> None:
    for one in claim.requires:
        if one.factor is not None:
            _known(one.factor, factors, f"{place}: requires: factor")
        _check_chosen(one.where, factors, {}, f"{place}: requires: where")
        if one.metric is None:
            continue
        phase = one.phase or claim.phase
        _known(phase, [*phases, TRIAL], f"{place}: requires: phase")
        if (known := metrics(phases.get(phase))) is not None:
            _known(one.metric, known, f"{place}: requires: metric of the phase {phase}")


def _check_levels(claim: Claim, factors: Mapping[str, list[Setting]], place: str) -> None:
    # A claim may name an unavailable system for which it declares another.
    more = {"system": [*claim.substitutes, *claim.accepts]}
    for key, chosen in (("of", claim.of), ("over", claim.over), ("where", claim.where)):
        _check_chosen(chosen, factors, more, f"{place}: {key}")


def _check_chosen(
    chosen: Mapping[str, Choice],
    factors: Mapping[str, list[Setting]],
    more: Mapping[str, list[str]],
    place: str,
) -> None:
    for factor, level in chosen.items():
        _known(factor, factors, f"{place}: factor")
        known = [str(held) for held in (*factors[factor], *more.get(factor, ()))]
        for one in listed(level):
            _known(str(one), known, f"{place}: level of {factor}")


def _check_systems(claim: Claim, systems: list[str], place: str) -> None:
    for key, named in (
        ("substitutes", claim.substitutes), ("accepts", claim.accepts), ("versions", claim.versions)
    ):  # fmt: skip
        for system in named:
            _known(system, claim.systems() or systems, f"{place}: {key}: system")
    for key, chosen in (("substitutes", claim.substitutes), ("accepts", claim.accepts)):
        for other in chosen.values():
            _known(other, systems, f"{place}: {key}: system")


def _known(name: str, allowed: Iterable[str], what: str) -> None:
    names = list(allowed)
    if name not in names:
        guess = suggestion(name, names)
        raise ValueError(
            f'{what} "{name}" does not exist; allowed: {", ".join(sorted(names)) or "none"}{guess}'
        )
