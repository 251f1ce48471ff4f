"""A claim: a published statement, its numbers, and the test that a run is put to. ``[[claims]]`` of an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from benchbook.declare.metric import TRIAL, metrics
from benchbook.declare.toml import Model, Name, Positive, Setting, Text
from benchbook.errors import command, suggestion

# The published numbers of a claim, as they are declared: a ratio, two values, rows of a file, or cells.

Side = dict[Name, Setting]
"""Levels that one side of a comparison has, by factor."""
Number = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Column = Annotated[str, StringConstraints(min_length=1)]


class PublishedCell(Model):
    """The published number of one cell: a ratio, or the two values it is made of."""

    levels: Side
    """The cell: a level of each factor in ``across`` (and ``along``)."""
    ratio: Number | None = None
    of: Number | None = None
    """The value of the claim's side ``of`` (for rises and falls: the value at this level)."""
    over: Number | None = None


class Published(Model):
    """The published number or numbers, in one of four ways: ratio; of and over; file; cells."""

    ratio: Number | None = None
    """The ratio as published."""
    of: Number | None = None
    """Published value of the side ``of``; for rises and falls, at the last level."""
    over: Number | None = None
    """Published value of the side ``over``; for rises and falls, at the first level."""
    unit: str | None = None
    """Unit of the two values, as published."""
    cells: list[PublishedCell] = Field(default_factory=list)
    """A number for each cell."""
    file: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*\.csv$")] | None = None
    """A file of datasets/published; every row of it that ``select`` chooses is read."""
    select: dict[Column, Setting] = Field(default_factory=dict)
    """Column → value that a row must have on both sides."""
    of_rows: dict[Column, Setting] = Field(default_factory=dict)
    """Column → value of the rows of the side ``of``; by default its levels, under the names of their factors."""
    over_rows: dict[Column, Setting] = Field(default_factory=dict)
    """The same of the side ``over``."""
    columns: dict[Name, Column] = Field(default_factory=dict)
    """Factor → column that holds its level, where the column has another name."""
    repeats: list[Column] = Field(default_factory=list)
    """Columns that number repetitions of one measurement; their geometric mean is taken."""
    value: Column = "value"
    """Column of the number."""

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
            raise ValueError(f"needs exactly one of ratio, of and over, file, cells; found {found}")
        if (self.of is None) != (self.over is None):
            raise ValueError("of and over belong together: give both values, or their ratio")
        if self.of is not None and not self.unit:
            raise ValueError("of and over need their unit, as published")
        if self.file is None:
            for key in ("select", "of_rows", "over_rows", "columns", "repeats"):
                if getattr(self, key):
                    raise ValueError(f"{key} chooses rows of a file, and no file is given")
        return self


class PublishedMachine(Model):
    """The machine of the publication: profile published on a smaller one is labelled scaled."""

    cores: Positive
    """Logical processors that the system under test had."""
    memory_gb: Number
    """Memory that it had, GB."""
    description: Text | None = None


# A claim: a published statement, its numbers, and the test that a run is put to. ``[[claims]]`` of an experiment.
#
# A claim compares two sides, ``of`` and ``over`` (levels of factors), or follows one metric ``along`` a factor.
# It is judged in every cell that its other factors span, jointly.

MARGIN = 0.1
"""Equivalence margin of a claim that declares none: 10 % either way."""

Test = Literal["ratio", "equal", "at-least", "at-most", "rises", "falls", "agree"]
ONE_SIDED = ("at-least", "at-most")
Choice = Setting | Annotated[list[Setting], Field(min_length=1)]


class Claim(Model):
    """A published statement that a run is held against."""

    id: Name
    statement: Text
    """What the publication says, in its own meaning."""
    source: Text
    """Where it says so."""
    test: Test
    """``ratio``: the ratio of ``of`` over ``over`` is the published one. ``equal``: the two do not differ.
    ``at-least``, ``at-most``: the ratio is no smaller (no larger) than the published one; 1 means "higher"
    ("lower"). ``rises``, ``falls``: from the first to the last level of ``along``. ``agree``: both sides give the
    same answers to the queries of the phase."""
    phase: Name
    """Phase that the metric is of; trial for the whole trial."""
    metric: Name
    of: Side = Field(default_factory=dict)
    over: Side = Field(default_factory=dict)
    along: Name | None = None
    """Factor that rises and falls follow, in the order of its numbers, else of its declared levels."""
    monotonic: bool = False
    """Whether every step along the factor must go the same way."""
    by_at_least: Number | None = None
    """Smallest factor by which it must rise (or fall) from the first level to the last."""
    where: dict[Name, Choice] = Field(default_factory=dict)
    """Levels that hold on both sides: one, or a list of them."""
    across: list[Name] = Field(default_factory=list)
    """Factors whose levels tell the published cells apart."""
    in_cells: Literal["all", "most", "any"] = "all"
    """In how many of its cells the claim must hold: all, more than half, or at least one."""
    published: Published | None = None
    words: Literal["much", "slightly", "little"] | None = None
    """A size that the publication states in a word, in place of a number: ``much`` (at-least, at-most) is a factor
    of 1.5 or more, ``slightly`` (at-least, at-most) one of 1.02 to 1.2, ``little`` (equal) one below 1.1 either way."""
    margin: Annotated[float, Field(ge=0, le=1)] = MARGIN
    """Equivalence margin: 0.1 lets a ratio lie between 1/1.1 and 1.1 times the published one. One-sided tests
    (at-least, at-most) have none by default."""
    at: dict[Name, Choice] = Field(default_factory=dict)
    """Levels at which it was published; a run at other levels is judged, and its verdict names the difference."""
    validity: Literal["trial", "phase"] = "trial"
    """Which trials count: ``trial``, those in which everything is valid; ``phase``, also those of which this phase
    was measured to its end and lost nothing that was acknowledged. Defects elsewhere are then shown beside it."""
    better: Literal["higher", "lower"] | None = None
    """Which values of the metric are better; by default what the metric itself states."""
    versions: dict[Name, Text] = Field(default_factory=dict)
    """System → version it must have stated, where its name does not hold the version."""
    accepts: dict[Name, Name] = Field(default_factory=dict)
    """System that the claim names → another version of the same product that counts as it. Where the run lacks the
    first, the second is judged, and the verdict names it."""
    substitutes: dict[Name, Name] = Field(default_factory=dict)
    """System that the claim names → system that stands in for it; it is shown, and the verdict is not run."""
    underspecified: Text | None = None
    """What a rerun would need and the publication leaves out; the verdict is then underspecified."""
    unstated: list[Name] = Field(default_factory=list)
    """Factors that stand for what is left out: a run with two or more levels of each is judged at all of them, and
    only what holds at one and not at another stays underspecified."""

    @model_validator(mode="before")
    @classmethod
    def _one_sided_margin(cls, given: Any) -> Any:
        """Give a one-sided test no margin by default: "faster" is not met by a little slower."""
        if isinstance(given, dict) and "margin" not in given and given.get("test") in ONE_SIDED:
            return {**given, "margin": 0.0}
        return given

    @property
    def trend(self) -> bool:
        """Whether it follows a factor."""
        return self.test in ("rises", "falls")

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
        if self.unstated and self.underspecified is None:
            raise ValueError("unstated needs underspecified: what the publication leaves out, in words")
        sides = {*self.of, *self.over}
        for key, names in (("where", self.where), ("across", self.across), ("unstated", self.unstated)):
            both = sorted(sides.intersection(names))
            if both:
                raise ValueError(f"{key}: {both[0]} is a factor of the sides already")
        return self

    def _check_size(self) -> None:
        if self.margin == 0 and self.test not in ONE_SIDED:
            raise ValueError(
                f'margin = 0: test "{self.test}" is met within a margin above 0, such as {MARGIN:g}'
            )
        tests = {"much": ONE_SIDED, "slightly": ONE_SIDED, "little": ("equal",)}
        if self.words is not None and self.test not in tests[self.words]:
            raise ValueError(f'words = "{self.words}" belongs to test {" or ".join(tests[self.words])}')
        if self.words is not None and self.published is not None and self.published.ratio != 1:
            raise ValueError(f'words = "{self.words}" replaces a published ratio: leave published out')

    def _check_trend(self) -> None:
        if self.along is None or self.over:
            raise ValueError(f'test "{self.test}" needs along = "<factor>", and no side over')
        if self.by_at_least is not None and self.by_at_least < 1:
            raise ValueError(
                f"by_at_least = {self.by_at_least:g} is below 1; it is the factor of the rise or fall"
            )
        if self.along in {*self.of, *self.where, *self.across}:
            raise ValueError(f"along: {self.along} cannot be fixed in of, where or across as well")

    def _check_sides(self) -> None:
        if self.along is not None or self.monotonic or self.by_at_least is not None:
            raise ValueError('along, monotonic and by_at_least belong to the tests "rises" and "falls"')
        if not self.of or self.of.keys() != self.over.keys():
            raise ValueError(
                f'test "{self.test}" needs of and over with the same factors;'
                f" of has {_listing(self.of)}, over has {_listing(self.over)}"
            )
        if self.of == self.over:
            raise ValueError(f"of and over are the same; `{command('aa')}` compares a system with itself")
        if (
            self.published is None
            and self.test not in ("equal", "agree")
            and self.words is None
            and self.underspecified is None
        ):
            raise ValueError(f'test "{self.test}" needs published')


def _listing(names: Side) -> str:
    return ", ".join(sorted(names)) or "none"


# Claims checked against the experiment that declares them: every name they use is one that exists there.


def check_claims(
    claims: list[Claim], factors: Mapping[str, list[Setting]], phases: Mapping[str, str]
) -> None:
    """Check claims against their experiment: factor → all levels it can have, phase → workload.

    Raises ValueError in a sentence with the nearest name.
    """
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise ValueError(f"claims: the id {claim.id} is given twice")
        seen.add(claim.id)
        place = f'claims "{claim.id}"'
        _check_metric(claim, phases, place)
        _check_margin(claim, place)
        _check_levels(claim, factors, place)
        for key, factor in [
            *(("across", name) for name in claim.across),
            ("along", claim.along),
            *(("unstated", name) for name in claim.unstated),
        ]:
            if factor is not None:
                _known(factor, factors, f"{place}: {key}: factor")
        _check_systems(claim, [str(level) for level in factors["system"]], place)


def _check_metric(claim: Claim, phases: Mapping[str, str], place: str) -> None:
    _known(claim.phase, [*phases, TRIAL], f"{place}: phase")
    known = metrics(phases.get(claim.phase))
    if known is not None:
        _known(claim.metric, known, f"{place}: metric of the phase {claim.phase}")


def _check_margin(claim: Claim, place: str) -> None:
    bound = claim.published.ratio if claim.published else None
    if claim.test in ONE_SIDED and claim.margin and bound is not None:
        effect = max(bound, 1 / bound) - 1
        if claim.margin >= effect:
            raise ValueError(
                f"{place}: margin = {claim.margin:g} is not below the claimed effect, {effect:.3g}: a ratio of 1 would "
                "meet the claim; choose a smaller margin, or leave it out"
            )


def _check_levels(claim: Claim, factors: Mapping[str, list[Setting]], place: str) -> None:
    for key, chosen in (("of", claim.of), ("over", claim.over), ("where", claim.where), ("at", claim.at)):
        for factor, level in chosen.items():
            _known(factor, factors, f"{place}: {key}: factor")
            # A system that cannot be had may be claimed about, where another stands in for it.
            known = [*factors[factor], *((*claim.substitutes, *claim.accepts) if factor == "system" else ())]
            if key == "at":  # the publication's level may be one that no profile runs
                continue
            for one in level if isinstance(level, list) else [level]:
                _known(str(one), [str(held) for held in known], f"{place}: {key}: level of {factor}")


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
        raise ValueError(f'{what} "{name}" is none of {", ".join(sorted(names)) or "none"}{guess}')
