"""Publications that experiments rerun: who claimed what, when and where. Table ``[publication]`` of an experiment."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from benchbook.declare.toml import Model, Name, Text


class Setting(Model):
    """The setting of the published measurements, which pages show beside that of the rerun."""

    machine: Text | None = None
    versions: Text | None = None
    data: Text | None = None
    clients: Text | None = None
    durability: Text | None = None
    trials: Text | None = None


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
    leads: dict[Text, Name] = Field(default_factory=dict)
    """Label, such as "Reads" → id of a claim that answers the question. The first one represents the comparison.
    Default: the first claim with test ``ratio``."""
    differs: Text | None = None
    """What the rerun does in another way than the publication, in one or two sentences."""
    setting: Setting | None = None
    """Machine, versions, data, clients, durability and trials of the publication, each in a phrase."""
    uncontrolled: list[Text] = Field(default_factory=list)
    """What the publication did not control, in one or more sentences each."""
    of: Text | None = None
    """Name of the claim's side ``of`` in sentences and at the end of an axis. Default: the title of its system."""
    over: Text | None = None
    """Name of the claim's side ``over``, likewise."""

    configurations: dict[Name, Text] = Field(default_factory=dict)
    """Arm → its name in sentences, such as "the default template". Default: "configuration" and the arm."""

    @property
    def by(self) -> str:
        """The author, or that the publication names none."""
        return self.author or "author not named"

    @property
    def lead(self) -> str | None:
        """Id of the claim that represents the comparison."""
        return next(iter(self.leads.values()), None)

    @property
    def when(self) -> str:
        """The year, or that it has none."""
        return str(self.year) if self.year else "undated"
