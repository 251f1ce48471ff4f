"""The published numbers of a claim, as they are declared: a ratio, two values, rows of a file, or cells."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from benchbook.declare.model import Model, Name, Positive, Setting, Text

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
