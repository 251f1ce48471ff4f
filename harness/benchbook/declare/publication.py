"""Publications that experiments rerun: who claimed what, when and where. Table ``[publication]`` of an experiment."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from benchbook.declare.claim import Choice, Column, File
from benchbook.declare.toml import Model, Name, Positive, Text


class Setting(Model):
    """The setting of the published measurements, which pages show beside that of the rerun."""

    machine: Text | None = None
    versions: Text | None = None
    data: Text | None = None
    clients: Text | None = None
    durability: Text | None = None
    trials: Text | None = None


class Numbers(Model):
    """Published numbers that no claim selects from a file: what uses them, or why nothing does."""

    file: File | None = None
    """A CSV file in ``datasets/published``."""
    select: dict[Column, Choice] = Field(default_factory=dict)
    """Column → value, or list of values, of the rows. Default: every row of the file."""
    value: Column = "value"
    """Column of the numbers."""
    count: Positive | None = None
    """How many numbers of the publication are in no file; in place of ``file``."""
    in_claim: Name | None = None
    """Id of the claim that states these numbers itself, in ``published.cells``, ``of`` and ``over``."""
    drawn: Name | None = None
    """Name of a chart of the experiment's ``story.py``, which draws these numbers."""
    because: Text | None = None
    """Why those of them that nothing else uses are not compared, as a sentence."""

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        for names in (("file", "count"), ("in_claim", "drawn", "because")):
            given = [name for name in names if getattr(self, name) is not None]
            if len(given) != 1:
                allowed = " and ".join(f"`{name}`" for name in names)
                raise ValueError(f"needs exactly one of {allowed}; found {' and '.join(given) or 'none'}")
        if self.count is not None and (self.because is None or self.select):
            raise ValueError("`count` is of numbers in no file; it needs `because`, and has no `select`")
        return self


class Publication(Model):
    """The publication that an experiment reruns."""

    title: Text
    """Name of the publication, for links and citations."""
    author: Text | None = None
    """Author or publisher, such as "the vendor of CnosDB"; without it, pages say that the author is not named."""
    year: Annotated[int, Field(ge=1970, le=2100)] | None = None
    """Year of the publication; without it, the site calls it undated."""
    url: Annotated[str, StringConstraints(pattern=r"^https://\S+$")] | None = None
    """Its public address; without it, the site only names the publication."""
    claimed: Text
    """What it claims, in one sentence."""
    differs: Text | None = None
    """What the rerun does in another way than the publication, in one or two sentences."""
    setting: Setting | None = None
    """Machine, versions, data, clients, durability and trials of the publication, each in a phrase."""
    uncontrolled: list[Text] = Field(default_factory=list)
    """What the publication did not control, in one or more sentences each."""
    of: Text | None = None
    """Name of the side ``of`` of the claim on the first conclusion, at the end of an axis. Default: the title of its
    system."""
    over: Text | None = None
    """Name of the claim's side ``over``, likewise."""

    numbers: list[Numbers] = Field(default_factory=list)
    """The published numbers that no claim selects from a file: charts that draw them, and reasons."""
    configurations: dict[Name, Text] = Field(default_factory=dict)
    """Arm → its name in sentences, such as "the default template". Default: "configuration" and the arm."""
    systems: dict[Name, Text] = Field(default_factory=dict)
    """System → what the publication measured in its place, as charts call the published values. Default: its title."""

    @property
    def by(self) -> str:
        """The author, or that the publication names none."""
        return self.author or "author not named"

    @property
    def when(self) -> str:
        """The year, or that it has none."""
        return str(self.year) if self.year else "undated"
