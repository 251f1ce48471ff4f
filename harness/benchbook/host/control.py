"""One thing that disturbs measurements, and whether this machine keeps it in check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from benchbook.host.reading import NOT_READABLE, readable

State = Literal["controlled", "not controlled", "unknown"]

VIRTUAL = "cannot be fixed on a virtual machine: compare only runs of this machine with each other"


@dataclass(frozen=True)
class Control:
    """A disturbance, what was found of it, and what to do about it."""

    control: str
    state: State
    found: str
    wanted: str
    fix: str
    """The command that would fix it, or why none can; empty where nothing is to be done."""


def judge(name: str, found: Any, good: bool, wanted: str, fix: str, shown: str | None = None) -> Control:
    """Return the control for a fact; one that could not be read is ``unknown``.

    ``good`` is not looked at for an unreadable fact; ``shown`` stands for the fact where it reads better.
    """
    if not readable(found):
        return Control(name, "unknown", str(found or "not readable").removeprefix(NOT_READABLE), wanted, fix)
    words = shown if shown is not None else _words(found)
    return Control(name, "controlled" if good else "not controlled", words, wanted, "" if good else fix)


def _words(found: Any) -> str:
    if isinstance(found, list):
        return ", ".join(map(str, found)) or "none"
    if isinstance(found, bool):
        return "yes" if found else "no"
    return str(found)
