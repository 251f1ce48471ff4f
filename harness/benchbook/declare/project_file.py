"""The model of ``benchbook.toml``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from benchbook.declare.checkout import REQUIRES
from benchbook.declare.toml import Model, Name


class Project(Model):
    """A project: a folder with experiments, and with the systems, datasets and storage that it adds."""

    name: Name
    """Name of the project."""
    requires: Annotated[str, StringConstraints(pattern=REQUIRES)] = Field(">=0.1", examples=['">=0.1"'])
    """Oldest version of Benchbook that the project works with."""
