"""The folder of a site: which of its files Benchbook wrote, and how a new site replaces them and nothing else.

People keep a repository, a domain name or other pages in the same folder. Those files are never touched.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from benchbook.errors import RequestError, command
from benchbook.record import folder, manifest

MARK = ".benchbook-site"
"""File in a folder that Benchbook wrote: JSON with the key of each page, and the files of the site."""
SCRIPT = "benchbook.js"
"""The code that draws charts, for all pages: a classic script, which browsers also load from file://."""
DATA = "data"
"""Folder of the site with the files of each published run."""


@dataclass(frozen=True)
class Earlier:
    """What Benchbook wrote into a folder."""

    pages: dict[str, str]
    """Page → digest of all that it was made of."""
    files: frozenset[str]


NOTHING = Earlier({}, frozenset())


def read(output: Path) -> Earlier:
    """Return what Benchbook wrote into a folder; nothing if its mark is missing or invalid."""
    try:
        stated = folder.read_object(output / MARK)
    except ValueError:
        return NOTHING
    pages, files = stated.get("pages"), stated.get("files")
    if isinstance(pages, dict) and isinstance(files, list):
        named = frozenset(name for name in files if isinstance(name, str) and manifest.is_below(name))
        return Earlier({str(key): str(value) for key, value in pages.items()}, named)
    # An earlier Benchbook listed the pages alone; it also wrote the script and the data.
    data = [path for path in (output / DATA).rglob("*") if path.is_file() and not path.is_symlink()]
    names = {f"{key}.html" for key in stated if manifest.is_below(key)} | {SCRIPT, MARK}
    return Earlier({}, frozenset(names | {path.relative_to(output).as_posix() for path in data}))


def require_writable(output: Path) -> None:
    """Raise RequestError if a folder holds files and is no earlier site."""
    folder.require_folder(output, "--output")
    if output.exists() and any(output.iterdir()) and not read(output).files:
        raise RequestError(
            f"{output} has files that `{command('site')}` did not write, so it is left as it is.",
            "Name another folder with --output DIR, or remove this one.",
        )


def put(made: Path, output: Path, pages: dict[str, str]) -> None:
    """Move a finished site into its place and remove the files of the earlier one that it lacks.

    A kill at any moment leaves files of both, and a mark that lists them all without their keys: the next site then
    renders every page. Raises RequestError if a file that Benchbook did not write is in the way.
    """
    fresh = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
    mark = {"pages": pages, "files": [*fresh, MARK]}
    if not output.exists() or not any(output.iterdir()):
        folder.write_json(made / MARK, mark)
        made.rename(output)
        return
    mine = read(output).files
    require_mine(output, fresh, mine)
    old = sorted(mine - {*fresh, MARK})
    folder.write_json(output / MARK, {"pages": {}, "files": sorted({*mine, *fresh, MARK})})
    for name in fresh:
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).replace(output / name)
    for name in old:
        if _is_inside(output, name):
            _remove(output, name)
    folder.write_json(output / MARK, mark)


def require_mine(output: Path, fresh: list[str], mine: frozenset[str]) -> None:
    """Raise RequestError if a new file would replace one of somebody else, or leave the folder by a link."""
    wrong = [
        name
        for name in fresh
        if not _is_inside(output, name) or (os.path.lexists(output / name) and name not in mine)
    ]
    if wrong:
        raise RequestError(
            f"{output} has files that `{command('site')}` did not write where the site has its own:"
            f" {manifest.some(wrong)}. Nothing was changed.",
            "Move them to another folder, or name another one with --output DIR.",
        )


def _is_inside(output: Path, name: str) -> bool:
    """Return whether no folder on the way to a file is a link or a file."""
    between = [output.joinpath(*Path(name).parts[:depth]) for depth in range(1, len(Path(name).parts))]
    return all(not path.is_symlink() and (path.is_dir() or not path.exists()) for path in between)


def _remove(output: Path, name: str) -> None:
    """Remove a file, and the folders that are empty then."""
    path = output / name
    if path.is_dir() and not path.is_symlink():
        return
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not empty
        for parent in list(path.parents)[: len(Path(name).parts) - 1]:
            parent.rmdir()
