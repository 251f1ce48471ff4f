"""Plug-ins: Python files beside the declaration of an experiment, for what serves this experiment alone.

They are code of this checkout. A file is found by its name and by that of its experiment, never by what a run holds.
docs/plug-ins.md says what each kind of file has.
"""

from __future__ import annotations

import functools
import importlib
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from benchbook.declare.checkout import experiments, root
from benchbook.errors import RequestError

PACKAGE = "benchbook_experiments"
"""Package of the folders of experiments; in their names, an underscore is in place of each hyphen."""

Kind = Literal["workload", "dataset", "driver", "engine"]
ATTRIBUTES: dict[Kind, str] = {
    "workload": "workloads",
    "dataset": "generators",
    "driver": "drivers",
    "engine": "engines",
}
"""Kind, which is the name of the file → the attribute that the file sets: name → object."""


def file(slug: str, name: str) -> Path | None:
    """Return ``<name>.py`` of an experiment of this checkout; None if it has none."""
    folder = root() / "experiments" / slug
    found = folder / f"{name}.py"
    # The slug may come from a run.
    if slug not in experiments(root()) or not found.is_file():
        return None
    if not found.resolve().is_relative_to(folder.resolve()):
        raise RequestError(f"{_label(slug, name)} leads out of its folder.", "Put the file itself there.")
    return found


def module(slug: str, name: str) -> ModuleType | None:
    """Import ``<name>.py`` of an experiment once; return None if it has none, raise RequestError if it is broken."""
    found = file(slug, name)
    return None if found is None else _imported(slug, name, found.parent)


def imported(name: str) -> ModuleType:
    """Import a module by its name, be it Benchbook's or a plug-in's."""
    place = name.split(".")
    if place[0] == PACKAGE:
        slugs = experiments(root())
        slug = next((one for one in slugs if _package(one) == ".".join(place[:2])), "")
        if (found := module(slug, place[-1])) is not None:
            return found
    return importlib.import_module(name)


def own(slug: str, kind: Kind) -> Mapping[str, Any]:
    """Return what one experiment adds of a kind: name → object."""
    held, attribute = module(slug, kind), ATTRIBUTES[kind]
    if held is None:
        return {}
    found = getattr(held, attribute, None)
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
        raise RequestError(
            f"{_label(slug, kind)} does not set {attribute}, a dict from each name to its object.",
            "docs/plug-ins.md shows one.",
        )
    return found


def every(kind: Kind, built_in: Collection[str]) -> dict[str, Any]:
    """Return what all experiments add of a kind to the names that Benchbook has: name → object.

    Files that are broken are left out: ``Catalogue.experiment`` reports them when their own experiment is read, and
    other experiments need not care. A name has one meaning, except that an experiment may replace a driver for itself.
    """
    found: dict[str, Any] = {}
    places: dict[str, str] = {}
    for slug in experiments(root()):
        try:
            held = own(slug, kind)
        except RequestError:
            continue
        for name, one in held.items():
            if name in built_in and kind == "driver":
                continue
            if name in built_in or name in places:
                raise RequestError(
                    f'{_label(slug, kind)}: {places.get(name, "Benchbook")} also has the {kind} "{name}".',
                    "Give one of them another name.",
                )
            found[name], places[name] = one, _label(slug, kind)
    return found


@functools.cache
def _imported(slug: str, name: str, folder: Path) -> ModuleType:
    package = _package(slug)
    if package not in sys.modules:
        for one, places in ((PACKAGE, []), (package, [str(folder)])):
            made = sys.modules.setdefault(one, ModuleType(one))
            made.__path__ = places
    try:
        return importlib.import_module(f"{package}.{name}")
    except Exception as error:  # it is code of a user, in which anything may be wrong
        raise RequestError(
            f"{_label(slug, name)} cannot be imported: {type(error).__name__}: {error}.", "Correct the file."
        ) from error


def _package(slug: str) -> str:
    return f"{PACKAGE}.{re.sub(r'[^0-9A-Za-z]', '_', slug)}"


def _label(slug: str, name: str) -> str:
    return f"experiments/{slug}/{name}.py"
