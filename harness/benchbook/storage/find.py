"""Find the driver of a declared storage, which creates a data folder for one trial and removes it afterwards.

A module of this package provides ``driver(options, place) -> Storage``; ``local.py`` has the base class.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from benchbook.declare.storage import Storage as Declared
    from benchbook.storage.driver import StoragePlace
    from benchbook.storage.local import Storage


def storage(declared: Declared, place: StoragePlace, levels: dict[str, Any] | None = None) -> Storage:
    """Return the driver of a declared storage, for a data folder that does not exist yet.

    ``levels`` of a cell replace options of the same name. Raise RequestError for an unknown option; a declaration has
    no unknown driver.
    """
    make = importlib.import_module(f"benchbook.storage.{declared.driver}").driver
    return cast("Callable[[Any, StoragePlace], Storage]", make)(declared.typed(levels), place)
