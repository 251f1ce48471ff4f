"""Datasets: a file, or a generator with parameters and a seed. File: ``datasets/<name>.toml``."""

from __future__ import annotations

import functools
import re
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, ClassVar, NotRequired, Self, TypedDict

from pydantic import AfterValidator, AwareDatetime, Field, field_validator, model_validator

from benchbook.declare import data_file, plugin
from benchbook.declare.data_file import TABLE, Columns, Digest, FileSource
from benchbook.declare.duration import Duration, seconds
from benchbook.declare.toml import Model, Name, Positive, Text, check
from benchbook.errors import RequestError, suggestion

ROWS_PER_TICK_AND_HOST = 9


class Generated(Model):
    """Parameters of a generator of benchload."""

    by_worker: ClassVar[bool] = False
    """True if benchload only generates the dataset, and a worker in Python loads it and asks its questions."""
    load_command: ClassVar[str] = ""
    """Command of the experiment's client that loads the dataset, in place of ``load`` and the generator's name. It
    has no flags for retries and refused writes."""

    def rows(self) -> int:
        """Return the number of rows that the generator makes."""
        raise NotImplementedError

    def flags(self) -> list[str]:
        """Return the client's flags for these parameters, without the seed."""
        raise NotImplementedError


class DevopsParameters(Generated):
    """Parameters of the generator ``devops``: each host reports 9 measurements a tick; rows = 9 x scale x ticks."""

    scale: Positive
    """Number of hosts."""
    start: AwareDatetime
    """Time of the first tick, inclusive."""
    end: AwareDatetime
    """End of the time range, exclusive."""
    interval: Duration
    """Time between two ticks of a host, such as ``10s``; at least 1 ms."""

    @field_validator("interval")
    @classmethod
    def _whole_milliseconds(cls, text: str) -> str:
        if round(seconds(text) * 1000) < 1:
            raise ValueError(f'"{text}" is too short; the shortest interval is 1ms')
        return text

    @model_validator(mode="after")
    def _forward(self) -> DevopsParameters:
        if self.end <= self.start:
            raise ValueError(f"end ({_instant(self.end)}) is not after start ({_instant(self.start)})")
        return self

    def rows(self) -> int:
        """Return the number of rows that the generator makes."""
        ticks = -(-(self.end - self.start).total_seconds() // seconds(self.interval))
        return int(ticks) * self.scale * ROWS_PER_TICK_AND_HOST

    def flags(self) -> list[str]:
        """Return benchload's flags for these parameters, without the seed."""
        return [
            f"--scale={self.scale}",
            f"--start={_instant(self.start)}",
            f"--end={_instant(self.end)}",
            f"--interval={self.interval}",
        ]


def _instant(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


ROWS_PER_TICK_AND_TRUCK = 2
MISSING = 51 / 512
"""Share of the rows that the generator omits."""


class IotParameters(DevopsParameters):
    """Parameters of the generator ``iot``: each truck reports 2 measurements a tick, of which about 10 % are missing.

    Rows = 2 x scale x ticks, less the missing ones.
    """

    scale: Positive
    """Number of trucks."""

    def rows(self) -> int:
        """Return the expected number of rows; ``benchload generate --digest`` prints the exact one."""
        trucks_and_ticks = super().rows() // ROWS_PER_TICK_AND_HOST
        return round(trucks_and_ticks * ROWS_PER_TICK_AND_TRUCK * (1 - MISSING))


_UNITS = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = re.compile(r"(\d+)(B|KiB|MiB|GiB|)")
_LARGEST_SIZE = 2**30
_LARGEST_DEVIATION = 4.0


def size(text: str) -> int:
    """Return the bytes of ``text``; raise ValueError unless it is a size from 1B to 1GiB.

    >>> size("4KiB")
    4096
    """
    whole = _SIZE.fullmatch(text)
    number = int(whole[1]) * _UNITS[whole[2]] if whole else 0
    if not 1 <= number <= _LARGEST_SIZE:
        raise ValueError(f'"{text}" is not a size from 1B to 1GiB; write one such as "512B" or "4KiB"')
    return number


def _size_distribution(text: str) -> str:
    match text.split(":"):
        case [fixed]:
            size(fixed)
        case ["uniform", least, most]:
            if size(most) < size(least):
                raise ValueError(f'"{most}" is below "{least}" in "{text}"')
        case ["lognormal", median, deviation]:
            size(median)
            _deviation(deviation)
        case _:
            raise ValueError(
                f'"{text}" is not a size distribution; write "4KiB", "uniform:1KiB:16KiB" or "lognormal:4KiB:1"'
            )
    return text


def _deviation(text: str) -> None:
    if not re.fullmatch(r"\d+(\.\d+)?", text) or not 0 < float(text) <= _LARGEST_DEVIATION:
        raise ValueError(f'"{text}" is not a deviation; write a number above 0 and up to 4')


SizeDistribution = Annotated[str, AfterValidator(_size_distribution)]
"""``4KiB``, ``uniform:1KiB:16KiB``, or ``lognormal:4KiB:1`` (median, standard deviation of the logarithm)."""


class BlobParameters(Generated):
    """Parameters of the generator ``blob``: small objects that cannot be compressed."""

    count: Positive
    """Number of objects."""
    size: SizeDistribution
    """Size of each object, or the distribution of their sizes: ``4KiB``, ``uniform:1KiB:16KiB``, or
    ``lognormal:4KiB:1`` (median, standard deviation of the logarithm)."""

    def rows(self) -> int:
        """Return the number of objects."""
        return self.count

    def flags(self) -> list[str]:
        """Return benchload's flags for these parameters, without the seed."""
        return [f"--count={self.count}", f"--size={self.size}"]


class FramesParameters(Generated):
    """Parameters of the generator ``frames``: the table of the group-by questions of the db-benchmark."""

    by_worker: ClassVar[bool] = True
    table_rows: Annotated[int, Field(ge=1, le=10**9)]
    """Number of rows; 1e7 in the smallest published case."""
    groups: Annotated[int, Field(ge=1, le=10**6)] = 100
    """Number of values of id1, id2, id4 and id5; id3 and id6 have as many as rows per group."""

    @model_validator(mode="after")
    def _enough(self) -> Self:
        if self.groups > self.table_rows:
            raise ValueError(f"groups ({self.groups}) is above table_rows ({self.table_rows})")
        return self

    def rows(self) -> int:
        """Return the number of rows that the generator makes."""
        return self.table_rows

    def flags(self) -> list[str]:
        """Return benchload's flags for these parameters, without the seed."""
        return [f"--rows={self.table_rows}", f"--groups={self.groups}"]


class JoinFramesParameters(Generated):
    """Parameters of the generator ``join-frames``: the four tables of the join questions of the db-benchmark."""

    by_worker: ClassVar[bool] = True
    table_rows: Annotated[int, Field(ge=10, le=10**9)]
    """Number of rows of x and of big; 1e7 in the smallest published case. small has a millionth and medium a thousandth
    of them, but at least 10."""

    def rows(self) -> int:
        """Return the number of rows that the generator makes."""
        return 2 * self.table_rows + max(self.table_rows // 10**6, 10) + max(self.table_rows // 1000, 10)

    def flags(self) -> list[str]:
        """Return benchload's flags for these parameters, without the seed."""
        return [f"--rows={self.table_rows}"]


class HitsParameters(Generated):
    """Parameters of the generator ``hits``: the table of ClickBench."""

    by_worker: ClassVar[bool] = True
    table_rows: Annotated[int, Field(ge=1, le=10**9)]
    """Number of rows; about 1e8 in the publication."""

    def rows(self) -> int:
        """Return the number of rows that the generator makes."""
        return self.table_rows

    def flags(self) -> list[str]:
        """Return benchload's flags for these parameters, without the seed."""
        return [f"--rows={self.table_rows}"]


class FileData(Generated):
    """A dataset from a file: it has no parameters."""

    by_worker: ClassVar[bool] = True


FILE = "file"
"""What is named as the generator of a dataset from a file."""

GENERATORS: dict[str, type[Generated]] = {
    "devops": DevopsParameters,
    "iot": IotParameters,
    "blob": BlobParameters,
    "frames": FramesParameters,
    "join-frames": JoinFramesParameters,
    "hits": HitsParameters,
}
"""Parameter model of each generator of benchload; a new generator adds an entry."""


@functools.cache
def generators() -> dict[str, type[Generated]]:
    """Return the parameter model of every generator, also of those in the clients of experiments."""
    return GENERATORS | plugin.every("dataset", GENERATORS)


def generator(name: str) -> type[Generated] | None:
    """Return the parameter model of a generator; None if there is none of this name."""
    return GENERATORS.get(name) or generators().get(name)


class Extract(Model):
    """Size and digest of some rows in line protocol."""

    rows: Positive
    """Number of rows."""
    bytes: Positive
    """Number of bytes."""
    values: Positive | None = None
    """Number of field values in all rows."""
    sha256: Digest
    """SHA-256 of the bytes, in lower-case hexadecimal digits."""


class Published(Extract):
    """The file that a publication used, made by the publication's program and not by benchload."""

    source: Text
    """Program and arguments that make the file."""
    first: Extract | None = None
    """The first rows of the file, to check a file without reading all of it."""


class CountedTable(TypedDict):
    """Rows of a table, and values of each of its fields that are not null."""

    rows: int
    fields: dict[str, int]


class Digested(TypedDict):
    """What a generator made from a declaration, counted."""

    name: str
    rows: int
    values: int
    bytes: int
    sha256: str
    tables: dict[str, CountedTable]
    objects: NotRequired[int]
    """Number of objects; a dataset of objects has no tables."""


class Dataset(Model):
    """Deterministic data: a file with a digest, or a generator that makes the same bytes everywhere."""

    name: Name
    """Name of the dataset; the file is ``<name>.toml``."""
    title: Text
    """Title in reports."""
    description: Text
    """A description of the data in one or two sentences."""
    source: FileSource | None = None
    """The file that the dataset consists of; in place of a generator."""
    columns: Columns = Field(default_factory=dict)
    """Column of the file → its type in systems: ``integer``, ``float``, ``text``, ``boolean``, ``date`` or
    ``timestamp``. Default: the type that the file has."""
    generator: Name = FILE
    """Generator of benchload: ``devops``, ``iot``, ``blob``, ``frames``, ``join-frames`` or ``hits``; or one
    of the client of an experiment."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """Seed of the generator."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Parameters of the generator; a profile or a factor may replace some of them."""
    published: Published | None = None
    """The published file that this dataset imitates: the same shape, different bytes."""
    float_tolerance: Annotated[float, Field(ge=0, le=1)] = 1e-9
    """Largest relative difference between two floats of an answer that count as equal."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.source:
            if self.generator != FILE:
                raise ValueError(
                    f'generator = "{self.generator}" and [source] both make the data; remove one'
                )
            if not TABLE.fullmatch(self.table):
                raise ValueError(
                    f'"{self.table}" cannot name a table in SQL; add table = "…" to [source]: lower-case letters, '
                    "digits and underscores, the first no digit"
                )
        elif generator(self.generator) is None:
            if self.generator == FILE:
                raise ValueError(
                    'add [source] with file = "…", or a generator with its seed and [parameters]'
                )
            known = generators()
            guess = suggestion(self.generator, known)
            raise ValueError(
                f'generator "{self.generator}" does not exist; allowed: {", ".join(sorted(known))}{guess}'
            )
        self.typed()
        return self

    @property
    def model(self) -> type[Generated]:
        """The model of the parameters."""
        if self.source:
            return FileData
        found = generator(self.generator)
        assert found is not None  # it is checked
        return found

    @property
    def table(self) -> str:
        """The table of a dataset from a file."""
        return (self.source and self.source.table) or re.sub(r"[-.]", "_", self.name)

    def typed(self) -> Generated:
        """Return the parameters, checked by the generator's model."""
        return check(self.parameters, self.model, "[parameters]")

    def replaced(self, changes: dict[str, Any]) -> Dataset:
        """Return this dataset with some parameters replaced and checked; the seed stays the same."""
        return Dataset.model_validate({**self.model_dump(), "parameters": {**self.parameters, **changes}})

    def pinned(self, declaration: Path) -> Dataset:
        """Return this dataset from a file with the digest of its file, whose columns are checked."""
        assert self.source is not None
        try:
            source = data_file.pinned(self.source, declaration.parent)
            if source.has_rows and source.place(declaration.parent).exists():
                data_file.columns(source, self.columns, declaration.parent)
        except RequestError as error:
            raise RequestError(f"datasets/{declaration.name}: {error.message}", error.hint) from None
        return self.model_copy(update={"source": source})

    def flags(self) -> tuple[str, ...]:
        """Return the flags that follow ``benchload <verb> <generator>``; of a file, what tells datasets apart."""
        if self.source:
            types = [f"--column={name}={kind}" for name, kind in sorted(self.columns.items())]
            named = [
                f"--{key}={value}"
                for key in ("measurement", "precision")
                if (value := getattr(self.source, key)) is not None
            ]
            return (f"--sha256={self.source.sha256}", f"--table={self.table}", *named, *types)
        return (f"--seed={self.seed}", *self.typed().flags())
