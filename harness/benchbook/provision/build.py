"""Build: a program that is built once from files of the project, into a cache keyed by all that it is built from."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.matching import matching
from benchbook.errors import Unavailable
from benchbook.host.provenance import sha256_of
from benchbook.process.launch import Program, call
from benchbook.provision import host, recorded
from benchbook.provision.request import Missing, Request, fill_once, last_lines, program_at, watched

if TYPE_CHECKING:
    from benchbook.declare.system import BuildSource, System

ASK_SECONDS = 30.0


@dataclass(frozen=True)
class Pin:
    """All that a program is built from; the key of the cache."""

    command: list[str]
    program: str
    machine: str
    files: dict[str, str]
    """File, as a path below the project's folder → its digest."""
    keyed_by: dict[str, str]
    """Command → its output."""

    def key(self) -> str:
        """Return the first 16 hexadecimal digits of the pin's SHA-256."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]


def find(system: System, request: Request) -> Program | Missing | None:
    """Return the cached program; build it first if the cache lacks it.

    Raise RequestError if its files are missing, and Unavailable with the compiler's message if the build fails or
    the program reports another version.
    """
    source = system.source.build
    if source is None:
        return None
    project = _project(system)
    wanted = pin_of(system, source, project)
    if isinstance(wanted, Missing):
        return wanted
    folder = folder_of(wanted, request)
    path = folder / source.program

    def whole() -> bool:
        return recorded.read(folder, asdict(wanted), source.program) is not None

    if not whole():
        fill_once(
            folder,
            whole,
            lambda new: _build(new, system, source, wanted, project, request),
            system.title,
            request,
        )
    version = host.version(system, path)
    if version is not None and not system.accepts(version):
        raise Unavailable(
            f"{system.title}, built from {', '.join(source.files)}, reports version {version}, not {system.version}.",
            f"Install the library of version {system.version}, or correct version in systems/{system.name}.toml.",
        )
    made_with = "; ".join(" ".join(output.split())[:200] for output in wanted.keyed_by.values())
    detail = f"built from {', '.join(source.files)} of the project" + (
        f" with {made_with}" if made_with else ""
    )
    return program_at(system, version, "build", path, detail)


def preview(system: System, request: Request) -> str | Missing | None:
    """Describe the cached program, or what would be built."""
    source = system.source.build
    if source is None:
        return None
    wanted = pin_of(system, source, _project(system))
    if isinstance(wanted, Missing):
        return wanted
    folder = folder_of(wanted, request)
    if recorded.read(folder, asdict(wanted), source.program) is not None:
        return f"use {folder / source.program} (built from {', '.join(source.files)})"
    return f"build it once from {', '.join(source.files)} with {source.command[0]}, into {folder}"


def folder_of(wanted: Pin, request: Request) -> Path:
    """Return the cache folder of a program, which systems of one client share."""
    return request.cache_folder() / "systems" / f"{wanted.program}-{wanted.key()}"


def pin_of(system: System, source: BuildSource, project: Path) -> Pin | Missing:
    """Return what the program is built from now; Missing if a command that keys it cannot run."""
    outputs = {}
    for command in source.keyed_by:
        try:
            asked = call(command, ASK_SECONDS, cwd="/")
        except (OSError, subprocess.TimeoutExpired) as error:
            return _missing(source, f"`{' '.join(command)}` cannot run ({error})")
        if asked.returncode:
            said = " ".join((asked.stderr or asked.stdout).split())[:200]
            return _missing(source, f"`{' '.join(command)}` failed: {said}")
        outputs[" ".join(command)] = asked.stdout
    files = {
        str(file.relative_to(project)): sha256_of(file)
        for pattern in source.files
        for file in _files(system, pattern, project)
    }
    return Pin(source.command, source.program, platform.machine(), files, outputs)


def _project(system: System) -> Path:
    return Catalogue().path("system", system.name).parent.parent


def _files(system: System, pattern: str, project: Path) -> list[Path]:
    return matching(project, pattern, f"systems/{system.name}.toml: source.build.files")


def _missing(source: BuildSource, why: str) -> Missing:
    return Missing(
        f"build: {why}", f"apt-get install {' '.join(source.packages)}" if source.packages else None
    )


def _build(
    new: Path, system: System, source: BuildSource, wanted: Pin, project: Path, request: Request
) -> None:
    """Build into the folder ``new``; raise Unavailable with the compiler's first messages if that fails."""
    named = {pattern: [str(file) for file in _files(system, pattern, project)] for pattern in source.files}
    program = new / source.program
    command = [
        word.replace("{program}", str(program)) for part in source.command for word in named.get(part, [part])
    ]
    request.progress(f"building {system.title} once from {', '.join(source.files)}")
    log, started = new / "build.log", time.monotonic()
    try:
        code = watched(
            command, log, request.environment, lambda: f"building {system.title}", request, cwd=project
        )
    except FileNotFoundError:
        raise Unavailable(
            f"{system.title} cannot be built: there is no {command[0]} on PATH.", _how(source)
        ) from None
    if code != 0 or not program.is_file():
        reason = (
            " | ".join(last_lines(log, 6))
            or f"{command[0]} ended with code {code} and wrote no {source.program}"
        )
        raise Unavailable(f"{system.title} could not be built: {reason}.", _how(source))
    log.unlink()
    recorded.write(new, asdict(wanted), source.program, " ".join(source.command[:1]))
    request.progress(f"built {system.title} in {time.monotonic() - started:.0f} s")


def _how(source: BuildSource) -> str:
    packages = f"apt-get install {' '.join(source.packages)}" if source.packages else ""
    return f"Get what it needs with: {packages}" if packages else "Install its compiler and libraries."
