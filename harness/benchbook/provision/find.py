"""Find a pinned system: try every source in a fixed order."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Protocol

from benchbook.declare.system import SOURCE_NAMES
from benchbook.errors import Unavailable
from benchbook.process.launch import Program
from benchbook.provision import build, bundled, docker, go, host, image, maven, nix, python, user_supplied
from benchbook.provision.request import Missing, Request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchbook.declare.system import System


class Way(Protocol):
    """One way to get a system; None means that neither the declaration nor the user requests this way."""

    def find(self, system: System, request: Request) -> Program | Missing | None:
        """Get the system, or return why that is impossible."""
        ...

    def preview(self, system: System, request: Request) -> str | Missing | None:
        """Describe what ``find`` would do, without fetching or building anything."""
        ...


SOURCES: tuple[Way, ...] = (user_supplied, nix, docker, host, go, build, maven, python, bundled, image)


def find(system: System, request: Request, only: str | None = None) -> Program:
    """Return the program of a system, building it into the cache if that is its source.

    ``only`` restricts the search to one source. Raise RequestError if the user's program or server is unusable. If no
    source has the pinned version, raise Unavailable with what was searched and the command that gets it.
    """
    _check_client(system, request)
    missing: list[Missing] = []
    for name, source in zip(SOURCE_NAMES, SOURCES, strict=True):
        if only not in (None, name):
            continue
        found = source.find(system, request)
        if isinstance(found, Program):
            return found
        if source is nix and (lacks := nix.lacking(system, request)):
            with contextlib.suppress(Unavailable):  # the run itself reports an unavailable system
                request.progress(f"{system.name} {lacks}; instead: {_preview(system, request)}")
        if found is not None:
            missing.append(found)
    raise _unavailable(system, missing, request.flag)


def preview(system: System, request: Request) -> str:
    """Describe where ``find`` would get a system from; raise what ``find`` would raise."""
    _check_client(system, request)
    return _preview(system, request)


def previews(systems: Iterable[System], request: Request) -> dict[str, str | Unavailable]:
    """Return for each system where it would come from, or why it is unavailable."""
    found: dict[str, str | Unavailable] = {}
    for system in systems:
        try:
            found[system.name] = preview(system, request)
        except Unavailable as missing:
            found[system.name] = missing
    return found


def _check_client(system: System, request: Request) -> None:
    """Raise Unavailable if a system's client is not installed; mention a missing system too."""
    client = python.client(system)
    if client is None:
        return
    message, hint = (
        f"{system.title} is unavailable here: {client.reason}.",
        f"Get it with: {client.command}",
    )
    try:
        _preview(system, request)
    except Unavailable as other:
        if other.hint and str(client.command) not in other.hint:
            message, hint = (
                f"{message} {other.message}",
                f"Get the client with: {client.command}  {other.hint}",
            )
    raise Unavailable(message, hint)


def _preview(system: System, request: Request) -> str:
    missing: list[Missing] = []
    for source in SOURCES:
        found = source.preview(system, request)
        if isinstance(found, str):
            return found
        if found is not None:
            missing.append(found)
    raise _unavailable(system, missing, request.flag)


def _unavailable(system: System, missing: list[Missing], flag: str) -> Unavailable:
    looked = "; ".join(one.reason for one in missing) or "its declaration names no source for this machine"
    commands = [one.command for one in missing if one.command]
    program = f"{flag} {system.name}=PATH"
    hint = f"Get it with: {commands[0]}" if commands else f"Give a program with {program}."
    others = [*commands[1:], *([program] if commands and not system.embedded else [])]
    if others:
        hint += f"  (or: {'; or: '.join(others)})"
    return Unavailable(f"{system.title} is unavailable here: {looked}.", hint)
