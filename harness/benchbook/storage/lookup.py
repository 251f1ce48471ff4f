"""Find a storage driver by the name that ``storage/<name>.toml`` gives as ``driver``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from benchbook.errors import unknown
from benchbook.storage.driver import Setting, Storage

if TYPE_CHECKING:
    from benchbook.declare.storage import Storage as Declared

_NO_DRIVERS = ("__init__", "driver", "folder", "lookup")


def storage(declared: Declared, folder: Path) -> Storage:
    """Return the driver of a declared storage, for a data folder that does not exist yet.

    Raises RequestError when there is no such driver, or it does not know one of the options.
    """
    if declared.driver not in names():
        raise unknown("storage driver", declared.driver, names(), f"storage/{declared.name}.toml")
    make = importlib.import_module(f"benchbook.storage.{declared.driver}").driver
    return cast("Callable[[Mapping[str, Setting], Path], Storage]", make)(declared.options, folder)


def names() -> list[str]:
    """Return the names of all storage drivers."""
    here = Path(__file__).parent
    return sorted(file.stem for file in here.glob("*.py") if file.stem not in _NO_DRIVERS)
