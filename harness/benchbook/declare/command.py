"""Options of the workload ``command``: a tool's own command, timed by hyperfine."""

from __future__ import annotations

import string
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from benchbook.declare.model import Model, Name, Positive, Text
from benchbook.errors import meant, nearest

PLACES = {
    "benchload": "the path of Benchbook's load tool",
    "url": "the address of the server, with http://",
    "host": "host and port of the server",
    "database": "a name for the database",
    "input": "the path of the file with the dataset, where the option input asks for one",
    "sized": "the same file, with a last line dataset-size:ROWS,VALUES as bulk_data_gen writes it",
    "dataset": "the dataset as benchload is asked for it: generator and flags",
    "seed": "the seed of the dataset",
    "scale": "its parameter of this name",
    "start": "its parameter of this name",
    "end": "its parameter of this name",
    "interval": "its parameter of this name",
    "workers": "the option of this name",
}
"""What a command may name in braces."""


class CommandOptions(Model):
    """Options of the workload ``command``: which tool is timed, and the command of each tool."""

    tool: Name
    """The tool of this cell; usually a factor."""
    commands: dict[Name, Text] = Field(min_length=1)
    """Tool → its command for the shell. A tool that is not on PATH is shown as missing."""
    runs: Annotated[int, Field(ge=2)] = 5
    """Timed runs of the command in one trial."""
    warmup: Annotated[int, Field(ge=0)] = 1
    """Runs before the timed ones."""
    workers: Positive = 1
    """Connections, where a command names ``{workers}``."""
    input: Literal["influx", "none"] = "none"
    """Whether the dataset is written to a file first, which a command names as ``{input}``."""
    counts: Literal["rows", "lines", "nothing"] = "rows"
    """What a run gets through: the rows of the dataset; the lines that it prints, counted in a run of their own
    and thrown away in the timed ones; or nothing that could be counted."""
    received: bool = False
    """Whether the server has to have received every row of every run: for servers that count what they are sent."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.tool not in self.commands:
            guess = meant(self.tool, self.commands)
            raise ValueError(
                f'tool "{self.tool}" has no command; commands has {", ".join(self.commands)}{guess}'
            )
        for tool, command in self.commands.items():
            for place in _places(tool, command):
                if place not in PLACES:
                    found = nearest(place, PLACES)
                    guess = f'; did you mean "{{{found}}}"?' if found else ""
                    raise ValueError(
                        f'the command of "{tool}" names {{{place}}}, which is none of {", ".join(PLACES)}{guess}'
                    )
        return self


def names(command: str, place: str) -> bool:
    """Say whether a command names a place.

    >>> names("cat {input}", "input")
    True
    """
    return any(name == place for _, name, _, _ in string.Formatter().parse(command))


def _places(tool: str, command: str) -> list[str]:
    """Return what a command names in braces."""
    try:
        return [name for _, name, _, _ in string.Formatter().parse(command) if name is not None]
    except ValueError as error:
        raise ValueError(
            f'the command of "{tool}" has braces that do not fit ({error}); write {{{{ for one'
        ) from None
