"""Nix: store paths that the flake passes in BENCHBOOK_NIX_SYSTEMS.

The variable names a JSON file that maps a system's name to the store path of its program, or of its package, whose
``bin/`` contains the program.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import RequestError
from benchbook.process.launch import Program
from benchbook.provision import host
from benchbook.provision.request import Missing, Request, program_at

if TYPE_CHECKING:
    from benchbook.declare.system import System

VARIABLE = "BENCHBOOK_NIX_SYSTEMS"


def find(system: System, request: Request) -> Program | Missing | None:
    """Return the flake's program; Missing if the harness was not started from the flake."""
    path = _path(system, request)
    if not isinstance(path, Path):
        return path
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
    return "is not among the systems of this app" if system.source.nix else "has no Nix package"


def _path(system: System, request: Request) -> Path | Missing | None:
    if system.source.nix is None:
        return None
    file = request.environment.get(VARIABLE)
    if not file:
        command = "nix run .#experiment -- <experiment>"
        return Missing(f"nix: not started from the flake ({VARIABLE} is not set)", command)
    mapping = _mapping(Path(file))
    if system.name not in mapping:
        command = f"{VARIABLE}=$(nix build --no-link --print-out-paths .#systems) nix run .#experiment -- <experiment>"
        return Missing(f"nix: this app of the flake does not include {system.name}", command)
    path = Path(mapping[system.name])
    if path.is_dir():
        path = path / "bin" / system.source.nix.program
    if not path.is_file():
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
