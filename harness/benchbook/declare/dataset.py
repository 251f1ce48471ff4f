"""A dataset: generator, parameters and seed. File: ``datasets/<name>.toml``."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from benchbook.declare.blob import BlobParameters
from benchbook.declare.devops import DevopsParameters
from benchbook.declare.iot import IotParameters
from benchbook.declare.kline import KlineParameters
from benchbook.declare.model import Model, Name, Positive, Text
from benchbook.declare.toml import check
from benchbook.errors import meant

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
            guess = meant(self.generator, GENERATORS)
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
