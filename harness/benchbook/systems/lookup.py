"""Find a driver by the name that ``systems/<name>.toml`` gives as ``driver``."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import cast

from benchbook.errors import unknown
from benchbook.systems.driver import Driver, Place


def driver(name: str, place: Place) -> Driver:
    """Return the driver ``benchbook.systems.<name>``; raise RequestError when there is none."""
    if name not in names():
        raise unknown("driver", name, names())
    make = importlib.import_module(f"benchbook.systems.{name}").driver
    return cast("Callable[[Place], Driver]", make)(place)


def in_containers(name: str) -> bool:
    """Say whether a driver starts its programs through its place, so that they also run in containers."""
    module = importlib.import_module(f"benchbook.systems.{name}") if name in names() else None
    return bool(getattr(module, "IN_CONTAINERS", False))


def url_schemes(name: str) -> tuple[str, ...]:
    """Return the schemes of the URLs by which a driver takes a server that runs already."""
    module = importlib.import_module(f"benchbook.systems.{name}") if name in names() else None
    return tuple(getattr(module, "URL_SCHEMES", ("http", "https")))


def names() -> list[str]:
    """Return the names of all drivers: the modules of this package that offer ``driver(place)``.

    Read from the source instead of by importing, so that listing them stays instant.
    """
    import benchbook.systems as package

    found = []
    for module in pkgutil.iter_modules(package.__path__):
        spec = importlib.util.find_spec(f"benchbook.systems.{module.name}")
        if module.name != "lookup" and spec is not None and spec.origin is not None:
            with Path(spec.origin).open(encoding="utf-8") as source:
                if any(line.startswith("def driver(") for line in source):
                    found.append(module.name)
    return sorted(found)
