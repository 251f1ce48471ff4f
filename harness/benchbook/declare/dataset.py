"""A dataset: generator, parameters and seed. File: ``datasets/<name>.toml``."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from benchbook.declare.devops import DevopsParameters
from benchbook.declare.model import Model, Name, Text
from benchbook.declare.toml import check
from benchbook.errors import nearest

GENERATORS: dict[str, type[DevopsParameters]] = {"devops": DevopsParameters}
"""Parameter model of each generator of benchload; a new generator adds one entry."""


class Dataset(Model):
    """Deterministic data: the same declaration makes the same bytes everywhere."""

    name: Name
    title: Text
    description: Text
    generator: Name
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    parameters: dict[str, Any]
    """Parameters of the generator; a profile or a factor may replace some of them."""
    float_tolerance: Annotated[float, Field(ge=0, le=1)] = 1e-9
    """Largest relative difference at which two floats of an answer count as equal."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.generator not in GENERATORS:
            guess = nearest(self.generator, GENERATORS)
            meant = f'; did you mean "{guess}"?' if guess else ""
            raise ValueError(
                f'generator "{self.generator}" is none of {", ".join(sorted(GENERATORS))}{meant}'
            )
        self.typed()
        return self

    def typed(self) -> DevopsParameters:
        """Return the parameters checked by the generator's own model."""
        return check(self.parameters, GENERATORS[self.generator], "[parameters]")

    def replaced(self, changes: dict[str, Any]) -> Dataset:
        """Return this dataset with some parameters replaced, checked again; ``seed`` is never one of them."""
        return Dataset.model_validate({**self.model_dump(), "parameters": {**self.parameters, **changes}})

    def flags(self) -> tuple[str, ...]:
        """Return the flags after ``benchload <verb> <generator>``."""
        return (f"--seed={self.seed}", *self.typed().flags())
