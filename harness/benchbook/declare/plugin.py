"""Plug-ins: Python files beside the declarations of an experiment, for it alone, or beside those of a project.

They are code of the project or of Benchbook. A file is found by its name and by that of its folder, never by what a
run holds. docs/plug-ins.md says what each kind of file has.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import re
import sys
import traceback
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from benchbook.declare import checkout
from benchbook.declare.checkout import experiments
from benchbook.errors import RequestError

PACKAGE = "benchbook_experiments"
"""Package of the folders of experiments; in their names, an underscore is in place of each hyphen."""
PROJECT = "benchbook_project"
"""Package of the folders of the project in ``SHARED``."""

Kind = Literal["workload", "dataset", "driver", "engine"]
ATTRIBUTES: dict[Kind, str] = {
    "workload": "workloads",
    "dataset": "generators",
    "driver": "drivers",
    "engine": "engines",
}
"""Kind, which is the name of the file → the attribute that the file sets: name → object."""
SHARED: dict[Kind, str] = {
    "workload": "workloads",
    "dataset": "datasets",
    "driver": "systems",
    "engine": "systems",
}
"""Kind → the folder of a project whose Python files set the attribute, for all experiments."""


def file(slug: str, name: str) -> Path | None:
    """Return ``<name>.py`` of an experiment of this checkout; None if it has none."""
    folder = experiments().get(slug)  # the slug may come from a run
    found = folder / f"{name}.py" if folder else None
    if found is None or not found.is_file():
        return None
    _require_inside(found)
    return found


def module(slug: str, name: str) -> ModuleType | None:
    """Import ``<name>.py`` of an experiment once; return None if it has none, raise RequestError if it is broken."""
    found = file(slug, name)
    return None if found is None else _imported(_package(slug), found)


def imported(name: str) -> ModuleType:
    """Import a module by its name, be it Benchbook's or a plug-in's."""
    place = name.split(".")
    if place[0] == PACKAGE:
        slug = next((one for one in experiments() if _package(one) == ".".join(place[:2])), "")
        if (found := module(slug, place[-1])) is not None:
            return found
    if place[0] == PROJECT and (file := {one.stem: one for one in shared(place[1])}.get(place[-1])):
        return _imported(f"{PROJECT}.{place[1]}", file)
    return importlib.import_module(name)


def own(slug: str, kind: Kind) -> Mapping[str, Any]:
    """Return what one experiment adds of a kind: name → object."""
    held = module(slug, kind)
    return {} if held is None else _set(held, kind, _label(slug, kind))


def shared(folder: str) -> list[Path]:
    """Return the plug-ins of one of the project's folders in ``SHARED``; a name with ``_`` first is not one."""
    found = sorted((checkout.root() / folder).glob("[!_]*.py"))
    for file in found:
        _require_inside(file)
    return found


def of_project(kind: Kind) -> dict[str, Mapping[str, Any]]:
    """Return file → what it adds of a kind, of the project's own folders; raise RequestError if a file is broken.

    Only files that set the attribute of this kind are imported.
    """
    folder, made = SHARED[kind], dict[str, Mapping[str, Any]]()
    attributes = [ATTRIBUTES[one] for one, place in SHARED.items() if place == folder]
    for file in shared(folder):
        label, text = f"{folder}/{file.name}", file.read_text(encoding="utf-8", errors="replace")
        sets = [one for one in attributes if re.search(rf"^{one}\b[^=\n]*=", text, re.MULTILINE)]
        if not sets:
            raise RequestError(
                f"{label} does not set {' or '.join(attributes)}, a dict from each name to its object.",
                f"docs/plug-ins.md shows one. If other files import it, call it _{file.name}.",
            )
        if ATTRIBUTES[kind] in sets:
            made[label] = _set(_imported(f"{PROJECT}.{folder}", file), kind, label)
    return made


def every(kind: Kind, built_in: Collection[str]) -> dict[str, Any]:
    """Return what project and experiments add of a kind to the names that Benchbook has: name → object.

    Files of experiments that are broken are left out: ``Catalogue.experiment`` reports them when their own experiment
    is read, and other experiments need not care. Files of the project serve all: they raise RequestError.
    A name has one meaning, except that an experiment may replace a driver for itself.
    """
    found: dict[str, Any] = {}
    places: dict[str, str] = {}
    for label, held in [*of_project(kind).items(), *_of_experiments(kind)]:
        for name, one in held.items():
            if name in built_in and kind == "driver" and label.startswith("experiments/"):
                continue
            if name in built_in or name in places:
                raise RequestError(
                    f'{label}: {places.get(name, "Benchbook")} also has the {kind} "{name}".',
                    "Give one of them another name.",
                )
            found[name], places[name] = one, label
    return found


def digests(slug: str) -> dict[str, str]:
    """Return file → ``sha256:<hex>`` of all Python files that can serve a run of an experiment.

    They are those beside the experiment and those of the project's folders.
    """
    folders = {f"experiments/{slug}": experiments().get(slug)}
    folders |= {name: checkout.root() / name for name in sorted(set(SHARED.values()))}
    return {
        f"{name}/{file.name}": f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
        for name, folder in folders.items()
        if folder is not None
        for file in sorted(folder.glob("*.py"))
    }


def _of_experiments(kind: Kind) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for slug in experiments():
        with contextlib.suppress(RequestError):
            yield _label(slug, kind), own(slug, kind)


def _set(held: ModuleType, kind: Kind, label: str) -> Mapping[str, Any]:
    """Return what a file sets for a kind; raise RequestError for anything but a dict from names to objects."""
    attribute = ATTRIBUTES[kind]
    found = getattr(held, attribute, None)
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
        raise RequestError(
            f"{label} does not set {attribute}, a dict from each name to its object.",
            "docs/plug-ins.md shows one.",
        )
    return found


def _require_inside(file: Path) -> None:
    if not file.resolve().is_relative_to(file.parent.resolve()):
        shown = file.relative_to(
            file.parents[2] if file.parents[1].name == "experiments" else file.parents[1]
        )
        raise RequestError(f"{shown} leads out of its folder.", "Put the file itself there.")


@functools.cache
def _imported(package: str, file: Path) -> ModuleType:
    if package not in sys.modules:
        for one, places in ((package.partition(".")[0], []), (package, [str(file.parent)])):
            made = sys.modules.setdefault(one, ModuleType(one))
            made.__path__ = places
    try:
        return importlib.import_module(f"{package}.{file.stem}")
    except Exception as error:  # it is code of a user, in which anything may be wrong
        folder = file.parent
        label = f"experiments/{folder.name}" if package.startswith(PACKAGE) else folder.name
        line = _line(error, file.parent)
        raise RequestError(
            f"{label}/{file.name} cannot be imported: {type(error).__name__}: {error}{line}.",
            "Correct the file.",
        ) from error


def _line(error: Exception, folder: Path) -> str:
    """Return the innermost place of an error in the files of a folder, for the end of a sentence."""
    if isinstance(error, SyntaxError):  # its text names the line
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if Path(one.filename).parent == folder]
    return f", at {Path(own[-1].filename).name} line {own[-1].lineno}" if own else ""


def _package(slug: str) -> str:
    return f"{PACKAGE}.{re.sub(r'[^0-9A-Za-z]', '_', slug)}"


def _label(slug: str, name: str) -> str:
    return f"experiments/{slug}/{name}.py"
