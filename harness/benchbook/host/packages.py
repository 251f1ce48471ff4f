"""The system packages that Benchbook uses, from their one list, and its extras, and whether they are installed."""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from benchbook.errors import RequestError, unknown
from benchbook.host import extras
from benchbook.host.reading import Unreadable, program_output

LIST = Path("docs/apt-packages.txt")
"""Path of the list below the root of the checkout. Its first lines explain the columns."""

Need = Literal["base", "ci", "optional"]
COLUMNS = 4


@dataclass(frozen=True)
class Package:
    """A line of the list."""

    package: str
    program: str
    """A name on PATH, or ``/file``, or ``python:module``."""
    needed: Need
    purpose: str


@dataclass(frozen=True)
class Program:
    """The state of a program on this machine."""

    package: str
    program: str
    state: Literal["present", "absent"]
    version: str
    """The version that it reports; empty if it is absent or reports none."""
    needed: Need
    purpose: str
    fix: str
    """The command that installs it; empty if it is present."""


def packages(root: Path) -> list[Package]:
    """Return the list below ``root``; raise RequestError for an invalid line."""
    file = root / LIST
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise RequestError(
            f"{LIST} is unreadable ({error.strerror}).", "It is part of the repository: restore it with git."
        ) from None
    return list(_parse(text))


def programs(root: Path) -> list[Program]:
    """Return the state of every listed program and of Benchbook's extras; query versions in parallel."""
    with ThreadPoolExecutor(max_workers=8) as pool:
        return [*pool.map(_found, packages(root)), *map(_extra, extras.EXTRAS)]


def _parse(text: str) -> Iterator[Package]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        fields = line.split(maxsplit=COLUMNS - 1)
        where = f"{LIST}, line {number}"
        if len(fields) < COLUMNS:
            raise RequestError(
                f"{where} has {len(fields)} columns; {COLUMNS} are needed: package, program, needed, purpose.",
                f'Write for example: "git  git  base  the revision stored with every run" (found: "{line}").',
            )
        package, program, needed, purpose = fields
        if needed not in get_args(Need):
            raise unknown("kind of need", needed, get_args(Need), where)
        yield Package(package, program, cast("Need", needed), purpose)


def _found(package: Package) -> Program:
    version = _version(package.program)
    fix = "" if version is not None else f"sudo apt-get install {package.package}"
    state: Literal["present", "absent"] = "absent" if version is None else "present"
    return Program(
        package.package, package.program, state, version or "", package.needed, package.purpose, fix
    )


def _extra(name: str) -> Program:
    lacked = extras.missing(extras.EXTRAS[name])
    return Program(
        f"benchbook[{name}]",
        ", ".join(extras.EXTRAS[name]),
        "absent" if lacked else "present",
        "",
        "optional",
        extras.PURPOSES[name],
        extras.command(lacked) if lacked else "",
    )


def _version(program: str) -> str | None:
    """Return the version that a program reports, "" if it reports none, None if it is absent."""
    if program.startswith("/"):
        return "" if Path(program).exists() else None
    if program.startswith("python:"):
        return "" if importlib.util.find_spec(program.removeprefix("python:")) else None
    path = shutil.which(program)
    if path is None:
        return None
    try:
        found = re.search(r"\d+(\.\d+)+|\b\d+\b", program_output([path, "--version"]))
    except Unreadable:
        return ""
    return found.group() if found else ""
