"""What a storage driver is: it gives one trial a folder on some storage, and takes it away again."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

Setting = str | int | float | bool
Facts = dict[str, Any]
"""What is known of a storage, for the report: ``type``, ``mount_options``, ``device``, ``free_bytes`` …"""


class Storage(Protocol):
    """One storage in one trial. A module of this package offers ``driver(options, folder) -> Storage``."""

    def mount(self) -> Path:
        """Make the data folder, empty, and return it; raise Unavailable or TrialFailed in words."""
        ...

    def facts(self) -> Facts:
        """Say what the data folder stands on, now."""
        ...

    def drop_caches(self) -> bool:
        """Empty the operating system's file cache; False where that is not permitted (lukewarm)."""
        ...

    def sync(self) -> None:
        """Return when all written data is on the device."""
        ...

    def bytes(self) -> int:
        """Return the bytes that the data folder takes on the device."""
        ...

    def unmount(self) -> None:
        """Remove the data folder and what was mounted for it; never raises for what is already gone."""
        ...
