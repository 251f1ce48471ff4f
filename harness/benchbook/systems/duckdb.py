"""DuckDB, in a separate worker process."""

from __future__ import annotations

from benchbook.systems.python_worker import EmbeddedDriver


class DuckDB(EmbeddedDriver):
    """One DuckDB file in one trial."""

    engine = "duckdb"
    title = "DuckDB"
    dialect = "duckdb"


driver = DuckDB
