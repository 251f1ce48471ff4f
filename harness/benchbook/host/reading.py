"""Reading the machine's own files, where an absent fact is a stated fact and never an exception."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Facts = dict[str, Any]
"""Nested facts as JSON holds them: dict, list, str, int, float, bool, None."""

NOT_READABLE = "not readable: "
"""What the text of a fact begins with when it could not be read; the reason follows."""

PROGRAM_TIMEOUT_SECONDS = 3.0


class Unreadable(Exception):
    """A fact cannot be had; the text says why, without naming a file of the user's."""


@dataclass(frozen=True)
class Tree:
    """The file tree that the machine describes itself in; a test hands over one of its own."""

    root: Path = Path("/")

    @property
    def real(self) -> bool:
        """Whether this is the machine's own tree, so that asking programs and system calls makes sense."""
        return self.root == Path("/")

    def at(self, path: str) -> Path:
        """Return the place of ``/path`` in this tree."""
        return self.root / path.lstrip("/")

    def text(self, path: str) -> str:
        """Return a file's text without surrounding white space; raise Unreadable."""
        try:
            return self.at(path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError as error:
            raise Unreadable(f"{path}: {(error.strerror or 'cannot be read').lower()}") from error

    def number(self, path: str) -> int:
        """Return a file's one whole number; raise Unreadable."""
        found = self.text(path)
        try:
            return int(found)
        except ValueError as error:
            raise Unreadable(f"{path}: holds {found[:40]!r}, not a number") from error

    def names(self, path: str, pattern: str) -> list[str]:
        """Return the names in a folder that match, sorted by number where they end in one; empty if none."""
        try:
            return sorted((found.name for found in self.at(path).glob(pattern)), key=_by_number)
        except OSError:
            return []


def _by_number(name: str) -> tuple[str, int]:
    word = name.rstrip("0123456789")
    return word, int(name[len(word) :] or 0)


def stated(read: Callable[..., Any], *arguments: Any) -> Any:
    """Return what ``read`` returns for the arguments, or the text ``not readable: why``.

    >>> stated(int, "no")
    "not readable: invalid literal for int() with base 10: 'no'"
    """
    try:
        return read(*arguments)
    except Unreadable as reason:
        return f"{NOT_READABLE}{reason}"
    except OSError as error:  # the words alone: the file may lie in a folder that names a user
        return f"{NOT_READABLE}{(error.strerror or type(error).__name__).lower()}"
    except (ValueError, LookupError, AttributeError, ArithmeticError) as error:
        return f"{NOT_READABLE}{error}"


def chosen(text: str) -> str:
    """Return the word in brackets, with which the kernel marks a setting among those possible.

    >>> chosen("always [madvise] never")
    'madvise'
    """
    found = re.search(r"\[(\S+)\]", text)
    return found.group(1) if found else text


def readable(fact: Any) -> bool:
    """Say whether a fact was read at all."""
    return fact is not None and not (isinstance(fact, str) and fact.startswith(NOT_READABLE))


def fact(facts: Facts, path: str) -> Any:
    """Return the fact at ``topic.key…``, or a ``not readable`` text where a step is missing.

    >>> fact({"cpu": {"model": "x"}}, "cpu.model")
    'x'
    """
    found: Any = facts
    for key in path.split("."):
        if not isinstance(found, dict):
            return found if isinstance(found, str) else f"{NOT_READABLE}{path} is not among the facts"
        if key not in found:
            return f"{NOT_READABLE}{path} is not among the facts"
        found = found[key]
    return found


def said(arguments: list[str]) -> str:
    """Return what a program prints, both streams; raise Unreadable when it is absent or does not end.

    The exit code is not judged: systemd-detect-virt answers "none" with 1.
    """
    try:
        done = subprocess.run(
            arguments,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=PROGRAM_TIMEOUT_SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise Unreadable(f"the program {arguments[0]} is absent") from error
    except subprocess.TimeoutExpired as error:
        raise Unreadable(f"{arguments[0]} did not answer in {PROGRAM_TIMEOUT_SECONDS:g} s") from error
    except OSError as error:
        raise Unreadable(f"{arguments[0]} cannot be started: {error.strerror}") from error
    return (done.stdout + done.stderr).strip()
