"""SQLite, in a separate worker process."""

from __future__ import annotations

from benchbook.systems.python_worker import EmbeddedDriver


class SQLite(EmbeddedDriver):
    """One SQLite file in one trial."""

    engine = "sqlite"
    title = "SQLite"
    dialect = "sqlite"


driver = SQLite
