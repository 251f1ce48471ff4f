"""Go: a system built once from its official Go module, into a cache keyed by the pin."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import Unavailable
from benchbook.process.launch import Program
from benchbook.provision import cache, host
from benchbook.provision.request import Missing, Request

if TYPE_CHECKING:
    from benchbook.declare.system import System


def find(system: System, request: Request) -> Program | Missing | None:
    """Return the cached program; build it first if the cache lacks it.

    Raise Unavailable with the toolchain's message if the build fails or reports another version.
    """
    if system.source.go is None:
        return None
    wanted, folder = cache.pin_of(system), folder_of(system, request)
    path = folder / wanted.program
    record = cache.read(folder, wanted)
    if record is None:
        toolchain = _toolchain(request)
        if toolchain is None:
            return _no_toolchain(request, wanted)
        record = cache.build(folder, wanted, toolchain, f"{system.title}", request)
    version = host.version(system, path)
    if version is not None and not system.accepts(version):
        raise Unavailable(
            f"{system.title} built from {wanted.package} reports version {version}, not {system.version}.",
            f"Correct source.go in systems/{system.name}.toml (its ldflags set the version).",
        )
    detail = f"{wanted.command()}, with {record['toolchain']}"
    return Program(system.name, system.version, "go", path=path, digest=record["digest"], detail=detail)


def preview(system: System, request: Request) -> str | Missing | None:
    """Describe the cached program, or what would be built."""
    if system.source.go is None:
        return None
    wanted, folder = cache.pin_of(system), folder_of(system, request)
    if cache.read(folder, wanted) is not None:
        return f"use {folder / wanted.program} (built from {wanted.package}@v{wanted.version})"
    if _toolchain(request) is None:
        return _no_toolchain(request, wanted)
    return f"build it once, a few minutes: {wanted.command()}, into {folder}"


def folder_of(system: System, request: Request) -> Path:
    """Return the cache folder of this pin's program."""
    return request.cache_folder() / "systems" / f"{system.name}-{cache.pin_of(system).key()}"


def _toolchain(request: Request) -> Path | None:
    found = shutil.which(str(request.go or "go"), path=request.environment.get("PATH"))
    return Path(found).absolute() if found else None


def _no_toolchain(request: Request, wanted: cache.Pin) -> Missing:
    where = f"{request.go} is not executable" if request.go else "no go command on PATH"
    return Missing(
        f"go: not in the cache {request.cache_folder()}, and {where} to build it", wanted.command()
    )
