"""Enter one trial into the database, as a test does that changes a single folder."""

from __future__ import annotations

from pathlib import Path

from benchbook.record import database, ingest
from benchbook.record.folder import Say, tell


def enter_trial(results: Path, trial: Path, say: Say = tell) -> bool:
    """Enter one trial in place of its earlier rows; return False if it is corrupt."""
    with database.open(results, say=say) as connection:
        return ingest.trials(connection, [trial], say) == 1
