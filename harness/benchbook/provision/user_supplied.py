"""``--system NAME=PATH``, ``=URL`` or ``=docker://IMAGE``: a program, image or running server of the user."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from benchbook.errors import RequestError
from benchbook.host.libraries import libraries
from benchbook.process.launch import Program
from benchbook.provision import docker, host
from benchbook.provision.request import Request, program_at
from benchbook.systems.driver import url_schemes

if TYPE_CHECKING:
    from benchbook.declare.system import System


def find(system: System, request: Request) -> Program | None:
    """Return the user's program or server; raise RequestError if it is unusable or another version."""
    value = request.given.get(system.name)
    if value is None:
        return None
    flag = f"{request.flag} {system.name}={value}"
    if system.embedded:
        raise RequestError(
            f"{flag}: {system.title} runs inside a Python process of Benchbook, and its package is pinned.",
            f"Leave {request.flag} {system.name}=… out: no program can replace it.",
        )
    if value.startswith(docker.SCHEME):
        return docker.user_supplied(system, flag, value, request)
    if "://" in value:
        # The driver checks a running server's version in every trial.
        return Program(
            system.name,
            system.version,
            "given",
            url=_url(flag, value, url_schemes(system.driver)),
            detail=f"a running server, {flag}",
        )
    path = file(flag, value)
    version = host.version(system, path)
    if version is not None and not system.accepts(version):
        raise RequestError(
            f"{flag}: this program reports version {version}, but {system.name} is pinned to {system.version}.",
            f"Give a program of version {system.version}.",
        )
    found = program_at(system, version, "given", path, f"given by {flag}")
    return replace(found, libraries=libraries(path))


def preview(system: System, request: Request) -> str | None:
    """Describe what would be used; raise what ``find`` raises."""
    value = request.given.get(system.name, "")
    if value.startswith(docker.SCHEME) and not system.embedded:
        docker.given(f"{request.flag} {system.name}={value}", value)
        return f"run the image {request.given[system.name].removeprefix(docker.SCHEME)} (given)"
    found = find(system, request)
    if found is None:
        return None
    return f"use the running server {found.url}" if found.url else f"use {found.path} (given)"


def _url(flag: str, value: str, schemes: tuple[str, ...]) -> str:
    try:
        parts = urlsplit(value)
        # urlsplit drops the line feeds that a request would still contain.
        plain = value.isascii() and value.isprintable() and " " not in value
        good = plain and parts.scheme in schemes and parts.hostname and (parts.port is None or parts.port > 0)
        secret = parts.password is not None
    except ValueError:
        good = secret = False
    if secret:
        system = flag.partition("=")[0]
        raise RequestError(
            f"{system}: the URL holds a password, which every result would contain.",
            "Remove the password from the URL. For PostgreSQL, set it in the variable PGPASSWORD.",
        )
    if not good:
        allowed = " or ".join(f"{scheme}://HOST:PORT" for scheme in schemes)
        raise RequestError(f"{flag}: not a URL of a server.", f"Write it as {allowed}.")
    return value.rstrip("/")


def file(flag: str, value: str) -> Path:
    """Return the program at a path; raise RequestError if it cannot be started."""
    path = Path(value).expanduser().absolute()
    if not path.exists():
        raise RequestError(
            f"{flag}: there is no file {path}.", "Give the path of the program, or http://HOST:PORT."
        )
    if not path.is_file():
        raise RequestError(f"{flag}: {path} is not a file.", "Give the path of the program itself.")
    if not os.access(path, os.X_OK):
        raise RequestError(f"{flag}: {path} is not executable.", f"Make it so: chmod +x {path}")
    return path
