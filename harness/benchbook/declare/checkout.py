"""The folders that hold declarations: those of the project come first, then those that come with Benchbook.

A project is a folder with ``benchbook.toml``. The checkout of Benchbook is one. Outside of all projects, it counts.
"""

from __future__ import annotations

import functools
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

FILE = "benchbook.toml"
"""Marks the folder of a project."""
REQUIRES = r"^>= *[0-9]{1,4}(\.[0-9]{1,4}){0,2}$"
"""Form of the version that a project requires."""
PROJECT_VARIABLE = "BENCHBOOK_PROJECT"
"""Names the folder of the project, in place of the working directory."""
FLAKE_VARIABLE = "BENCHBOOK_NIX_PROJECT"
"""Names the project whose flake started Benchbook: a copy in the Nix store, which nothing is written to."""
ROOT_VARIABLE = "BENCHBOOK_ROOT"
_INSTALLED = Path(__file__).resolve().parents[1] / "catalogue"
NAME = "benchbook"
"""Name of the project in which Benchbook is developed."""


def built_in() -> Path:
    """Return the folder of the declarations that come with Benchbook.

    ``BENCHBOOK_ROOT`` names it (``./bench`` and the flake set it). Without it, they are in the installed package, or
    else in the checkout that holds the package.
    """
    if given := os.environ.get(ROOT_VARIABLE):
        return Path(given)
    return _INSTALLED if _INSTALLED.is_dir() else _INSTALLED.parents[2]


def is_installed() -> bool:
    """Return whether the built-in declarations are those of an installed package, where nothing is written."""
    return built_in() == _INSTALLED


def root() -> Path:
    """Return the folder of the project: its declarations, pages, published runs and results.

    ``BENCHBOOK_PROJECT`` names it. Without it, it is the nearest folder with ``benchbook.toml`` at or above the working
    directory, or else the copy of the flake, or else that of ``built_in``.
    """
    if given := os.environ.get(PROJECT_VARIABLE):
        return _known(Path(given))
    found = next(around(), None)
    if found is None or _is_copy(found):
        return Path(os.environ.get(FLAKE_VARIABLE) or built_in())
    return _known(found)


def is_of_flake() -> bool:
    """Return whether the project is the copy that the flake has of it."""
    return str(root()) == os.environ.get(FLAKE_VARIABLE)


def is_apart() -> bool:
    """Return whether the project is another folder than that of the built-in declarations."""
    return root() != built_in()


def layers(project: Path | None = None) -> tuple[Path, ...]:
    """Return the folders of declarations. What the first has hides what the second has under the same name."""
    return tuple(dict.fromkeys((project or root(), built_in())))


def results() -> Path:
    """Return the folder of results by default: that of the project, or of the working directory outside of one."""
    return (root() if is_apart() and not is_of_flake() else Path()) / "results"


def found(file: Path) -> Path | None:
    """Return a file, named from the folder of a layer, in the first layer that has it; None if none has."""
    return next((layer / file for layer in layers() if (layer / file).is_file()), None)


def experiments(folders: tuple[Path, ...] | None = None) -> dict[str, Path]:
    """Return name → folder of each experiment in the given layers, or else in all; sorted by name."""
    every: dict[str, Path] = {}
    for layer in folders or layers():
        for path in layer.glob("experiments/*/experiment.toml"):
            every.setdefault(path.parent.name, path.parent)
    return dict(sorted(every.items()))


def around() -> Iterator[Path]:
    """Yield the folders with ``benchbook.toml`` at or above the working directory, nearest first."""
    try:
        here = Path.cwd()
    except FileNotFoundError:  # it was removed
        return
    for folder in (here, *here.parents):
        if (folder / FILE).is_file():
            yield folder


def _is_copy(folder: Path) -> bool:
    """Return whether a folder is another checkout of Benchbook than that whose ``./bench`` was started.

    The command of one revision must not use the declarations of another one.
    """
    return bool(os.environ.get(ROOT_VARIABLE)) and _name(folder) == _name(built_in())


def _name(folder: Path) -> object:
    """Return the name that a folder's file states; ``NAME`` without a file, None if it states none."""
    file = folder / FILE
    try:
        found = file.stat()
    except FileNotFoundError:
        return NAME
    except OSError:  # ``project.enter`` reports it
        return None
    return _stated(file, found.st_ino, found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=16)  # a plan asks for the layers thousands of times
def _stated(file: Path, _inode: int, _modified_ns: int, _size_bytes: int) -> object:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8")).get("name")
    except (OSError, ValueError):  # ``project.enter`` reports it
        return None


def _known(folder: Path) -> Path:
    """Return ``built_in()`` for another path of the same folder."""
    known = built_in()
    return known if folder.exists() and known.exists() and folder.samefile(known) else folder
