"""Read facts from the machine's files and programs; an unreadable fact becomes a text, never an exception."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Facts = dict[str, Any]
"""Nested facts as JSON: dict, list, str, int, float, bool, None."""

NOT_READABLE = "not readable: "
"""Prefix of the text of an unreadable fact; the reason follows."""

PROGRAM_TIMEOUT_SECONDS = 3.0


class Unreadable(Exception):
    """A fact is unavailable; the message says why, without naming a user's file."""


@dataclass(frozen=True)
class Tree:
    """The file tree in which the machine describes itself; tests use another root."""

    root: Path = Path("/")

    @property
    def real(self) -> bool:
        """True if this is the machine's own tree, so that programs and system calls give facts too."""
        return self.root == Path("/")

    def at(self, path: str) -> Path:
        """Return the path of ``/path`` in this tree."""
        return self.root / path.lstrip("/")

    def text(self, path: str) -> str:
        """Return a file's text without surrounding white space; raise Unreadable."""
        try:
            return self.at(path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError as error:
            raise Unreadable(f"{path}: {(error.strerror or 'cannot be read').lower()}") from error

    def number(self, path: str) -> int:
        """Return a file's single integer; raise Unreadable."""
        found = self.text(path)
        try:
            return int(found)
        except ValueError as error:
            raise Unreadable(f"{path}: contains {found[:40]!r}, not a number") from error

    def names(self, path: str, pattern: str) -> list[str]:
        """Return the matching names in a folder, sorted by a number at their end; empty if there are none."""
        try:
            return sorted((found.name for found in self.at(path).glob(pattern)), key=_by_number)
        except OSError:
            return []


def _by_number(name: str) -> tuple[str, int]:
    word = name.rstrip("0123456789")
    return word, int(name[len(word) :] or 0)


def read_fact(read: Callable[..., Any], *arguments: Any) -> Any:
    """Return ``read(*arguments)``, or the text ``not readable: why``.

    >>> read_fact(int, "no")
    "not readable: invalid literal for int() with base 10: 'no'"
    """
    try:
        return read(*arguments)
    except Unreadable as reason:
        return f"{NOT_READABLE}{reason}"
    except OSError as error:  # only the reason: the file may be in a folder that names a user
        return f"{NOT_READABLE}{(error.strerror or type(error).__name__).lower()}"
    except (ValueError, LookupError, AttributeError, ArithmeticError) as error:
        return f"{NOT_READABLE}{error}"


def selected_option(text: str) -> str:
    """Return the option in brackets, which the kernel uses to mark the active one.

    >>> selected_option("always [madvise] never")
    'madvise'
    """
    found = re.search(r"\[(\S+)\]", text)
    return found.group(1) if found else text


def readable(fact: Any) -> bool:
    """Return whether a fact was readable."""
    return fact is not None and not (isinstance(fact, str) and fact.startswith(NOT_READABLE))


def fact(facts: Facts, path: str) -> Any:
    """Return the fact at ``topic.key…``, or a ``not readable`` text if a step is missing.

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


def program_output(arguments: list[str]) -> str:
    """Return the output of a program, both streams; raise Unreadable if it is absent or does not end.

    The exit code is ignored: systemd-detect-virt answers "none" with 1.
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
