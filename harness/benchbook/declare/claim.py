"""A claim: a published statement, its numbers, and the test that a run is put to. ``[[claims]]`` of an experiment.

A claim compares two sides, ``of`` and ``over`` (levels of factors), or follows one metric ``along`` a factor.
It is judged in every cell that its other factors span, jointly.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from benchbook.declare.claim_numbers import Number, Published, Side
from benchbook.declare.model import Model, Name, Setting, Text

MARGIN = 0.1
"""Equivalence margin of a claim that declares none: 10 % either way."""

Test = Literal["ratio", "equal", "at-least", "at-most", "rises", "falls"]
Choice = Setting | Annotated[list[Setting], Field(min_length=1)]


class Claim(Model):
    """A published statement that a run is held against."""

    id: Name
    statement: Text
    """What the publication says, in its own meaning."""
    source: Text
    """Where it says so."""
    test: Test
    """``ratio``: of over over is the published ratio. ``equal``: the two do not differ. ``at-least``,
    ``at-most``: the ratio is no smaller (no larger) than the published one; 1 says "higher" ("lower").
    ``rises``, ``falls``: from the first to the last level of ``along``."""
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
    margin: Annotated[float, Field(gt=0, le=1)] = MARGIN
    """Equivalence margin: 0.1 lets a ratio lie between 1/1.1 and 1.1 times the published one."""
    better: Literal["higher", "lower"] | None = None
    """Which values of the metric are better; by default what the metric itself states."""
    versions: dict[Name, Text] = Field(default_factory=dict)
    """System → version it must have stated, where its name does not hold the version."""
    substitutes: dict[Name, Name] = Field(default_factory=dict)
    """System that the claim names → system that stands in for it; it is shown, and the verdict is not run."""
    underspecified: Text | None = None
    """What a rerun would need and the publication leaves out; the verdict is then underspecified."""
    unstated: list[Name] = Field(default_factory=list)
    """Factors that stand for what is left out: a run with two or more levels of each is judged at all of them, and
    only what holds at one and not at another stays underspecified."""

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
        if self.unstated and self.underspecified is None:
            raise ValueError("unstated needs underspecified: what the publication leaves out, in words")
        sides = {*self.of, *self.over}
        for key, names in (("where", self.where), ("across", self.across), ("unstated", self.unstated)):
            both = sorted(sides.intersection(names))
            if both:
                raise ValueError(f"{key}: {both[0]} is a factor of the sides already")
        return self

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
            raise ValueError("of and over are the same; `bench aa` compares a system with itself")
        if self.published is None and self.test != "equal" and self.underspecified is None:
            raise ValueError(f'test "{self.test}" needs published')


def _listing(names: Side) -> str:
    return ", ".join(sorted(names)) or "none"
