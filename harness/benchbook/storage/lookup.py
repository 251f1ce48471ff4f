"""Find a storage driver by the name that ``storage/<name>.toml`` gives as ``driver``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from benchbook.errors import unknown
from benchbook.storage.driver import Place, Storage

if TYPE_CHECKING:
    from benchbook.declare.storage import Storage as Declared


def storage(declared: Declared, place: Place, levels: dict[str, Any] | None = None) -> Storage:
    """Return the driver of a declared storage, for a data folder that does not exist yet.

    ``levels`` of a cell replace options of the same name. Raises RequestError when there is no such driver,
    or it does not know one of the options.
    """
    if declared.driver not in names():
        raise unknown("storage driver", declared.driver, names(), f"storage/{declared.name}.toml")
    make = importlib.import_module(f"benchbook.storage.{declared.driver}").driver
    return cast("Callable[[Any, Place], Storage]", make)(declared.typed(levels), place)


def names() -> list[str]:
    """Return the names of all storage drivers."""
    from benchbook.declare.storage import OPTIONS

    return sorted(OPTIONS)
