"""What a storage driver is: it gives one trial a folder on some storage, and takes it away again."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, cast

from benchbook.errors import unknown

Setting = str | int | float | bool
Facts = dict[str, str | int | bool | None]
"""What is known of a storage, for the report: ``file_system``, ``device``, ``free_bytes`` …"""


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


def driver(name: str, options: Mapping[str, Setting], folder: Path) -> Storage:
    """Return the driver ``benchbook.storage.<name>`` for a data folder that does not exist yet.

    Raises RequestError when there is no such driver, or it does not know one of the options.
    """
    import benchbook.storage as package

    found = sorted(path.stem for place in package.__path__ for path in Path(place).glob("*.py"))
    names = [one for one in found if one not in ("__init__", "driver", "folder")]
    if name not in names:
        raise unknown("storage driver", name, names)
    make = importlib.import_module(f"benchbook.storage.{name}").driver
    return cast("Callable[[Mapping[str, Setting], Path], Storage]", make)(options, folder)
