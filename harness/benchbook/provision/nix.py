"""Nix: store paths that the flake passes in BENCHBOOK_NIX_SYSTEMS.

The variable names a JSON file that maps a system's name to the store path of its program, or of its package, whose
``bin/`` contains the program. A system that nixpkgs lacks, but the registry of its language has, is mapped to what its
own source would return: a folder of jars, a program of an unpacked distribution, or the Python of an environment.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import RequestError
from benchbook.process.launch import Program
from benchbook.provision import environment, host, maven
from benchbook.provision.request import Missing, Request, on_path, program_at

if TYPE_CHECKING:
    from benchbook.declare.system import System

VARIABLE = "BENCHBOOK_NIX_SYSTEMS"


def find(system: System, request: Request) -> Program | Missing | None:
    """Return the flake's program; Missing if the harness was not started from the flake."""
    path = _path(system, request)
    if not isinstance(path, Path):
        return path
    if digest := _digest_of_files(system):
        return Program(
            system.name, system.version, "nix", path=path, digest=digest, detail=f"store path {path}"
        )
    version = host.version(system, path)
    if version is not None and not system.accepts(version):
        return Missing(f"nix: {path} reports version {version}, not {system.version}")
    return program_at(system, version, "nix", path, f"store path {path}")


def preview(system: System, request: Request) -> str | Missing | None:
    """Describe which store path would be used."""
    path = _path(system, request)
    return f"use {path} (nix)" if isinstance(path, Path) else path


def lacking(system: System, request: Request) -> str | None:
    """Return why this app of the flake does not include the system; None if it does, or if this is no such app."""
    if not request.environment.get(VARIABLE) or isinstance(_path(system, request), Path):
        return None
    return "is not among the systems of this app" if _is_offered(system) else "has no Nix package"


def _is_offered(system: System) -> bool:
    """Return whether the flake has the system: from nixpkgs, or from the registry of its language."""
    return bool(system.source.nix or system.source.go or _digest_of_files(system))


def _digest_of_files(system: System) -> str | None:
    """Return the digest of the pinned files that the flake makes the system of; None for other systems."""
    source = system.source
    if source.nix is not None:
        return None
    if source.maven is not None:
        return maven.digest(source.maven)
    if source.python is not None and source.python.wheels:
        return environment.digest(source.python)
    return None


def _path(system: System, request: Request) -> Path | Missing | None:
    file = request.environment.get(VARIABLE)
    of_files = _digest_of_files(system) is not None
    if not _is_offered(system) or not (file or system.source.nix):
        return None
    if not file:
        command = "nix run .#experiment -- <experiment>"
        return Missing(f"nix: not started from the flake ({VARIABLE} is not set)", command)
    mapping = _mapping(Path(file))
    if system.name not in mapping:
        command = f"{VARIABLE}=$(nix build --no-link --print-out-paths .#systems) nix run .#experiment -- <experiment>"
        return Missing(f"nix: this app of the flake does not include {system.name}", command)
    if system.source.maven is not None and of_files and on_path("java", request) is None:
        return Missing("nix: no java on PATH to run it", maven.PACKAGES)
    path = Path(mapping[system.name])
    if path.is_dir() and system.source.nix is not None:
        path = path / "bin" / system.source.nix.program
    if not path.is_file() and not (of_files and path.is_dir()):
        return Missing(f"nix: {path} does not exist", f"nix build {path.parent}")
    return path


def _mapping(file: Path) -> dict[str, str]:
    try:
        mapping = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise RequestError(
            f"{VARIABLE}={file}: not a JSON file ({error}).",
            f"Start the harness with nix run, or unset {VARIABLE}.",
        ) from error
    if not isinstance(mapping, dict) or not all(isinstance(value, str) for value in mapping.values()):
        raise RequestError(
            f"{VARIABLE}={file}: it must map system names to store paths.",
            f"Start the harness with nix run, or unset {VARIABLE}.",
        )
    return mapping
