"""DuckDB, in a worker process of its own."""

from __future__ import annotations

from benchbook.systems.driver import Place
from benchbook.systems.embedded import EmbeddedDriver


def driver(place: Place) -> EmbeddedDriver:
    """Return the driver of one DuckDB file."""
    return EmbeddedDriver(place, "duckdb", "DuckDB")
