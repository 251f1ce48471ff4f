"""Polars, in a separate worker process."""

from __future__ import annotations

from benchbook.systems.python_worker import EmbeddedDriver


class Polars(EmbeddedDriver):
    """Frames in the memory of one worker; nothing is stored."""

    engine = "polars"
    title = "Polars"
    dialect = "polars"


driver = Polars
