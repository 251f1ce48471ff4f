"""chDB, in a separate worker process."""

from __future__ import annotations

from benchbook.systems.python_worker import EmbeddedDriver


class ChDB(EmbeddedDriver):
    """One folder of chDB in one trial."""

    engine = "chdb"
    title = "chDB"
    dialect = "chdb"


driver = ChDB
