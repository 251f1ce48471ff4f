"""``bench init DIR``: make the folder of a project."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path
from typing import Annotated

import typer

from benchbook.declare import checkout
from benchbook.declare.names import LONGEST_NAME
from benchbook.errors import RequestError
from benchbook.errors import command as typed
from benchbook.record.folder import cannot_write

STARTER = Path(__file__).parent / "starter"
"""The files of a new project; the flake has the same ones as a template."""
NAME = "my-benchmarks"
"""Name of the project in ``STARTER``."""


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make; new or empty.")],
) -> None:
    """Make a project: a folder for experiments, systems and datasets of your own.

    It has one small experiment that runs at once. All commands work in it and in any folder below it.
    """
    place = folder.absolute()
    if place.exists() and not (place.is_dir() and not any(place.iterdir())):
        raise RequestError(
            f"{folder} {'is not empty' if place.is_dir() else 'is a file'}, and init changes no file that exists.",
            "Name a new or an empty folder.",
        )
    name = name_for(place)
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(STARTER, beside, copy_function=shutil.copyfile)
        for file in (checkout.FILE, "README.md"):
            text = (beside / file).read_text(encoding="utf-8")
            (beside / file).write_text(text.replace(NAME, name), encoding="utf-8")
        for made in (beside, *(path for path in beside.rglob("*") if path.is_dir())):
            made.chmod(0o777 & ~_umask())  # an installed package may be read-only
        if place.exists():  # perhaps the working directory, so it stays; what marks a project comes last
            for one in sorted(beside.iterdir(), key=lambda path: path.name == checkout.FILE):
                one.replace(place / one.name)
        else:
            beside.replace(place)
    except OSError as error:
        raise cannot_write(place, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    print(f"{place} is the project {name}. Next:\n")
    typed_there = _elsewhere(typed())
    print(f"  cd {shlex.quote(str(folder))}")
    for line in ("list", "run first --profile smoke", "run first"):
        print(f"  {typed_there} {line}")


def _elsewhere(command: str) -> str:
    """Return a command as it is typed in another folder.

    >>> _elsewhere("benchbook"), _elsewhere("nix run .#benchbook --")
    ('benchbook', 'nix run .#benchbook --')
    """
    return (
        shlex.quote(str(Path(command).absolute())) if "/" in command and Path(command).is_file() else command
    )


def name_for(folder: Path) -> str:
    """Return the name of a project in a folder.

    >>> name_for(Path("/x/My Benchmarks!")), name_for(Path("/x/…"))
    ('my-benchmarks', 'my-benchmarks')
    """
    words = re.findall(r"[a-z0-9]+", folder.name.lower())
    name = "-".join(words)[:LONGEST_NAME].rstrip("-")
    return name if name and name != checkout.NAME else NAME


def _umask() -> int:
    found = os.umask(0o077)
    os.umask(found)
    return found
