"""The base of every declaration: strict, frozen, and unknown keys are mistakes."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints


class Model(BaseModel):
    """A declared thing. Unknown keys are refused, and a value is never changed after it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=64)]
"""A name that is also a file name: lower-case letters, digits, dot, dash and underscore."""

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A sentence or a few for people to read; never empty."""

Setting = str | int | float | bool
"""One value of a configuration, a factor or an option."""

Positive = Annotated[int, Field(ge=1)]
