"""Who made a run: only A/A runs of the same origin count for it, because a manifest may state any processor.

The origin of a run that the user began here is its seal. That of a published run is its ledger and the name of its
machine there. An imported run has none: whoever sent it chose all that it says.
"""

from __future__ import annotations

from pathlib import Path

from benchbook.record import folder, ledger, seal
from benchbook.record.manifest import Export

FILE = "origin.json"
"""In the folder of a run that was opened from a ledger; only ``opened.link`` writes it, and only temporarily."""
OWN = "own"


def keep(place: Path, published: Export) -> None:
    """Store the origin of a published run in its folder of a temporary results folder; do nothing for another run."""
    if (found := _published(published)) is not None:
        folder.write_json(place / FILE, {"origin": found})


def of(place: Path) -> str | None:
    """Return the origin of the run in a results folder; None if it is unknown."""
    if seal.is_own(place):
        return OWN
    try:
        found = folder.read_object(place / FILE).get("origin")
    except (OSError, ValueError):
        return None
    return found if isinstance(found, str) else None


def is_shared(one: Export, other: Export) -> bool:
    """Return whether two exported runs are of one machine in one ledger."""
    found = _published(one)
    return found is not None and found == _published(other)


def _published(export: Export) -> str | None:
    where = export.folder.resolve()
    if not ledger.is_place(export):
        return None
    return f"{where.parent} {export.machine or ''}"
