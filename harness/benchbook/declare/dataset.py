"""A dataset: generator, parameters and seed. File: ``datasets/<name>.toml``."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated, Any, Self

from pydantic import AfterValidator, AwareDatetime, Field, field_validator, model_validator

from benchbook.declare.duration import Duration, seconds
from benchbook.declare.toml import Model, Name, Positive, Text, check
from benchbook.errors import suggestion

# Parameters of the ``devops`` generator: a fleet of hosts, nine measurements each a tick.

ROWS_PER_TICK_AND_HOST = 9


class DevopsParameters(Model):
    """Size and time of a devops dataset; rows = 9 x scale x ticks."""

    scale: Positive
    """Hosts."""
    start: AwareDatetime
    """First tick, inclusive."""
    end: AwareDatetime
    """End of time, exclusive."""
    interval: Duration
    """Time between two ticks of a host."""

    @field_validator("interval")
    @classmethod
    def _whole_milliseconds(cls, text: str) -> str:
        if round(seconds(text) * 1000) < 1:
            raise ValueError(f'"{text}" is below 1ms, the smallest interval')
        return text

    @model_validator(mode="after")
    def _forward(self) -> DevopsParameters:
        if self.end <= self.start:
            raise ValueError(f"end ({_instant(self.end)}) is not after start ({_instant(self.start)})")
        return self

    def rows(self) -> int:
        """Return the number of rows that these parameters make."""
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


# Parameters of the ``iot`` generator: a fleet of trucks, two measurements each a tick, some of them missing.

ROWS_PER_TICK_AND_TRUCK = 2
MISSING = 51 / 512
"""Share of the rows that the generator leaves out."""


class IotParameters(DevopsParameters):
    """Size and time of an iot dataset; rows = 2 x scale x ticks, less about a tenth that is missing."""

    scale: Positive
    """Trucks."""

    def rows(self) -> int:
        """Return the expected number of rows; benchload's ``--digest`` tells the exact one."""
        trucks_and_ticks = super().rows() // ROWS_PER_TICK_AND_HOST
        return round(trucks_and_ticks * ROWS_PER_TICK_AND_TRUCK * (1 - MISSING))


# Parameters of the ``kline`` generator: one-minute bars of stocks on working days.

BARS_PER_DAY = 240
MOST_STOCKS = 65_535
"""The published table numbers stocks with an unsigned integer of 16 bits."""


class KlineParameters(Model):
    """Size and time of a kline dataset; rows = 240 x stocks x days."""

    stocks: Annotated[int, Field(ge=1, le=MOST_STOCKS)]
    """Stocks of this part."""
    first: Annotated[int, Field(ge=1, le=MOST_STOCKS)] = 1
    """Number of the first stock: parts with other stocks are the same dataset continued."""
    days: Positive = 500
    """Working days, Monday to Friday."""
    start: date
    """First day; a Saturday or Sunday means the Monday after it."""

    @model_validator(mode="after")
    def _numbered(self) -> Self:
        if self.first - 1 + self.stocks > MOST_STOCKS:
            last = self.first - 1 + self.stocks
            raise ValueError(
                f"the last stock has the number {last}, but the last one possible is {MOST_STOCKS}"
            )
        return self

    def rows(self) -> int:
        """Return the number of rows that these parameters make."""
        return self.stocks * self.days * BARS_PER_DAY

    def flags(self) -> list[str]:
        """Return benchload's flags for these parameters, without the seed."""
        return [
            f"--scale={self.first - 1 + self.stocks}",
            f"--series-first={self.first - 1}",
            f"--start={self.start.isoformat()}T00:00:00Z",
            f"--days={self.days}",
        ]


# Parameters of the ``blob`` generator: small objects that cannot be compressed.

_UNITS = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = re.compile(r"(\d+)(B|KiB|MiB|GiB|)")
_MOST = 2**30
_MOST_DEVIATION = 4.0


def size(text: str) -> int:
    """Return the bytes of ``text``; raise ValueError where it is not a size from 1B to 1GiB.

    >>> size("4KiB")
    4096
    """
    whole = _SIZE.fullmatch(text)
    number = int(whole[1]) * _UNITS[whole[2]] if whole else 0
    if not 1 <= number <= _MOST:
        raise ValueError(f'"{text}" is not a size from 1B to 1GiB; write one such as "512B" or "4KiB"')
    return number


def _law(text: str) -> str:
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
                f'"{text}" is not a law of sizes; write "4KiB", "uniform:1KiB:16KiB" or "lognormal:4KiB:1"'
            )
    return text


def _deviation(text: str) -> None:
    if not re.fullmatch(r"\d+(\.\d+)?", text) or not 0 < float(text) <= _MOST_DEVIATION:
        raise ValueError(f'"{text}" is not a deviation above 0 and up to 4')


Law = Annotated[str, AfterValidator(_law)]
"""A law of sizes: ``4KiB``, ``uniform:1KiB:16KiB``, or ``lognormal:4KiB:1`` (median, deviation of the logarithm)."""


class BlobParameters(Model):
    """Number and sizes of the objects of a blob dataset."""

    count: Positive
    """Objects."""
    size: Law
    """Size of each, or the law that their sizes follow."""

    def rows(self) -> int:
        """Return the number of objects."""
        return self.count

    def flags(self) -> list[str]:
        """Return benchload's flags for these parameters, without the seed."""
        return [f"--count={self.count}", f"--size={self.size}"]


# A dataset: generator, parameters and seed. File: ``datasets/<name>.toml``.

Parameters = DevopsParameters | IotParameters | KlineParameters | BlobParameters

GENERATORS: dict[str, type[Parameters]] = {
    "devops": DevopsParameters,
    "iot": IotParameters,
    "kline": KlineParameters,
    "blob": BlobParameters,
}
"""Parameter model of each generator of benchload; a new generator adds one entry."""

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A SHA-256 in lower-case hexadecimal digits."""


class Extract(Model):
    """What is known of the bytes of some rows, in line protocol."""

    rows: Positive
    bytes: Positive
    values: Positive | None = None
    """Field values in all rows."""
    sha256: Digest


class Published(Extract):
    """The file that a publication used: what the program that it names makes, not what our generator makes."""

    source: Text
    """Program and arguments that make it."""
    first: Extract | None = None
    """Its first rows, to check a file without reading all of it."""


class Dataset(Model):
    """Deterministic data: the same declaration makes the same bytes everywhere."""

    name: Name
    title: Text
    description: Text
    generator: Name
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    parameters: dict[str, Any]
    """Parameters of the generator; a profile or a factor may replace some of them."""
    published: Published | None = None
    """The file that this dataset stands for; its bytes differ from ours, its shape does not."""
    float_tolerance: Annotated[float, Field(ge=0, le=1)] = 1e-9
    """Largest relative difference at which two floats of an answer count as equal."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.generator not in GENERATORS:
            guess = suggestion(self.generator, GENERATORS)
            raise ValueError(
                f'generator "{self.generator}" is none of {", ".join(sorted(GENERATORS))}{guess}'
            )
        self.typed()
        return self

    def typed(self) -> Parameters:
        """Return the parameters checked by the generator's own model."""
        return check(self.parameters, GENERATORS[self.generator], "[parameters]")

    def replaced(self, changes: dict[str, Any]) -> Dataset:
        """Return this dataset with some parameters replaced, checked again; ``seed`` is never one of them."""
        return Dataset.model_validate({**self.model_dump(), "parameters": {**self.parameters, **changes}})

    def flags(self) -> tuple[str, ...]:
        """Return the flags after ``benchload <verb> <generator>``."""
        return (f"--seed={self.seed}", *self.typed().flags())
