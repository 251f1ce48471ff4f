"""The project that a command works in, and what its ``benchbook.toml`` states."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import benchbook
from benchbook.declare import checkout
from benchbook.declare.names import is_name
from benchbook.declare.toml_file import load
from benchbook.errors import RequestError

KINDS = {
    "system": "systems/*.toml",
    "storage": "storage/*.toml",
    "dataset": "datasets/*.toml",
    "experiment": "experiments/*/experiment.toml",
}
"""Kind of declaration → where the folder of a layer has it."""

FLAKE_REVISION_VARIABLE = "BENCHBOOK_NIX_PROJECT_REVISION"
"""Set by the flake of a project to its revision, with ``-dirty`` if there are changes."""


def enter() -> list[str]:
    """Check the project of the working directory, and pass it on to the programs that this process starts.

    Return what the user should know: projects around it that do not count, and names that hide built-in ones. Nothing
    of the project is imported. Raise RequestError if the project belongs to another user, who could put code into it,
    if its file is invalid, or if it requires a newer Benchbook.
    """
    if not checkout.is_apart():
        return []
    folder = checkout.root()
    if not os.environ.get(checkout.PROJECT_VARIABLE) and not checkout.is_of_flake():
        _require_own(folder)
    stated = read(folder)
    _require_version(folder, str(stated.get("requires", "")))
    others = [] if os.environ.get(checkout.PROJECT_VARIABLE) else list(checkout.around())[1:]
    os.environ[checkout.PROJECT_VARIABLE] = str(folder.absolute())
    return [*_nested(folder, others), *_hidden()]


def read(folder: Path) -> dict[str, Any]:
    """Return what the file of a project states; raise RequestError if it is invalid."""
    path = folder / checkout.FILE
    stated = load(path)
    if not _is_plain(stated):  # else without pydantic, which takes half a second to load
        from benchbook.declare.project_file import Project
        from benchbook.declare.toml import check

        check(stated, Project, str(path))
    return stated


def identity() -> dict[str, Any] | None:
    """Return the name and the revision of the project, for a run; None for Benchbook itself."""
    from benchbook.host.provenance import of_flake, of_git

    if not checkout.is_apart():
        return None
    if checkout.is_of_flake():
        known = of_flake(os.environ.get(FLAKE_REVISION_VARIABLE, ""))
    else:
        known = of_git(checkout.root(), checkout.FILE)
    return {
        "name": read(checkout.root())["name"],
        "git_revision": known.revision,
        "git_dirty": known.dirty,
        "git_detail": known.detail,
        "git_prefix": known.prefix,
    }


def hidden() -> Iterator[tuple[str, str]]:
    """Yield kind and name of each declaration of the project that differs from the built-in one of the same name."""
    if not checkout.is_apart():
        return
    for kind, pattern in KINDS.items():
        for path in sorted(checkout.root().glob(pattern)):
            built_in = checkout.built_in() / path.relative_to(checkout.root())
            if built_in.is_file() and built_in.read_bytes() != path.read_bytes():
                yield kind, path.parent.name if kind == "experiment" else path.stem


def _is_plain(stated: dict[str, Any]) -> bool:
    """Return whether a file states a valid name and a valid version, and nothing else."""
    requires = stated.get("requires", ">=0")
    return (
        stated.keys() <= {"name", "requires"}
        and is_name(stated.get("name"))
        and isinstance(requires, str)
        and bool(re.fullmatch(checkout.REQUIRES, requires))
    )


def _require_own(folder: Path) -> None:
    """Raise RequestError if somebody else owns a project, as git does: its plug-ins are code."""
    users = {os.geteuid()}
    if os.geteuid() == 0 and (sudo := os.environ.get("SUDO_UID", "")).isdecimal():
        users.add(int(sudo))
    for path in (folder, folder / checkout.FILE):
        owner = path.stat().st_uid
        if owner not in users:
            raise RequestError(
                f"{path} belongs to another user (uid {owner}), and the plug-ins of a project are code.",
                f"If you trust it, name it: export {checkout.PROJECT_VARIABLE}={folder}",
            )


def _require_version(folder: Path, requires: str) -> None:
    wanted, here = _numbers(requires), _numbers(benchbook.__version__)
    if wanted > here:
        raise RequestError(
            f'{folder / checkout.FILE}: requires = "{requires}", but this is Benchbook {benchbook.__version__}.',
            "Install a newer Benchbook.",
        )


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, without zeros at the end.

    >>> _numbers(">= 0.10.0"), _numbers("1.2")
    ((0, 10), (1, 2))
    """
    found = [int(part) for part in re.findall(r"\d+", version)]
    while found and not found[-1]:
        found.pop()
    return tuple(found)


def _nested(folder: Path, others: list[Path]) -> Iterator[str]:
    known = checkout.built_in()
    for other in others:
        if not (known.exists() and other.samefile(known)):
            yield f"the project is {folder}; {other}, a project around it, does not count"


def _hidden() -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for kind, name in hidden():
        names.setdefault(kind, []).append(name)
    for kind, held in names.items():
        yield f"this project hides the built-in {kind} {', '.join(held)} with its own"
