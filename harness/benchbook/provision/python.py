"""Python packages: embedded systems, clients of some servers, and servers that come as packages."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.declare.catalogue import root
from benchbook.host import extras
from benchbook.host.provenance import sha256_of
from benchbook.process.launch import Program
from benchbook.provision import environment
from benchbook.provision.request import Missing, Request, program_at
from benchbook.systems import driver

if TYPE_CHECKING:
    from benchbook.declare.system import System


def client(system: System) -> Missing | None:
    """Return what is missing if a system's Python client is not installed, else None."""
    lacked = extras.missing(driver.packages(system.driver))
    if lacked is not None:
        return Missing(f"its client, {extras.named(lacked)}, is not installed", extras.command(lacked))
    wanted = system.client
    if wanted is None or importlib.util.find_spec(wanted.module.partition(".")[0]) is not None:
        return None
    return Missing(f"its client, the Python package {wanted.package}, is not installed", command(system))


def command(system: System) -> str:
    """Return the command that installs what a system needs in addition to the locked environment."""
    wanted = [f"{system.client.package}=={system.client.version}"] if system.client else []
    source = system.source.python
    if source is not None and source.program:
        wanted.insert(0, f"{source.package}=={system.version}")
    if Path(sys.prefix).is_relative_to("/nix/store"):  # its environment is read-only
        return f"./bench, without Nix, and install in its environment: {' '.join(wanted)}"
    return shlex.join([*_installer(Path(sys.prefix)), *wanted])


def _installer(prefix: Path) -> list[str]:
    """Return the command that installs packages here: uv if it made this environment, which then has no pip."""
    uv = environment.uv()
    return extras.installer(_shown(prefix / "bin" / "python"), _shown(uv) if uv else None)


def _shown(path: Path) -> str:
    """Return a path relative to the checkout if possible, like the ``./bench`` that users type."""
    return str(path.relative_to(root())) if path.is_relative_to(root()) else str(path)


STANDARD_LIBRARY = "sqlite3"
"""The only binding that Python includes; its version is that of its SQLite library."""


def find(system: System, request: Request) -> Program | Missing | None:
    """Return the binding if its library has the pinned version; the digest is the extension's."""
    source = system.source.python
    if source is None:
        return None
    if source.wheels:
        return environment.find(system, source, request)
    found = _version(source.package)
    if found is None:
        wanted = command(system) if source.program else f"pip install {source.package}"
        return Missing(f"python: no package {source.package} in this environment", wanted)
    version, detail = found
    if not system.accepts(version):
        reason = f"python: {source.package} is {version}, not {system.version}"
        return Missing(reason, command(system) if source.program else None)
    if source.program:
        return _server(system, source.package, source.program, detail)
    extension = _extension(source.package)
    return Program(
        system.name, version, "python", digest=sha256_of(extension) if extension else None, detail=detail
    )


def preview(system: System, request: Request) -> str | Missing | None:
    """Describe which binding would be used."""
    source = system.source.python
    if source is not None and source.wheels:
        return environment.preview(system, source, request)
    found = find(system, request)
    return f"use {found.detail}" if isinstance(found, Program) else found


def _server(system: System, package: str, program: str, detail: str) -> Program | Missing:
    """Return the program of a server within its package."""
    if shutil.which("java") is None:
        return Missing("python: no java on PATH to run it", "sudo apt-get install openjdk-17-jdk-headless")
    spec = importlib.util.find_spec(package)
    path = Path(spec.origin).parent / program if spec and spec.origin else None
    if path is None or not path.is_file():
        return Missing(f"python: the package {package} has no {program}", command(system))
    return program_at(system, None, "python", path, detail)


def _version(package: str) -> tuple[str, str] | None:
    if package == STANDARD_LIBRARY:
        try:
            import sqlite3
        except ImportError:
            return None
        connection = sqlite3.connect(":memory:")
        source_id = connection.execute("SELECT sqlite_source_id()").fetchone()[0]
        connection.close()
        return sqlite3.sqlite_version, f"SQLite {sqlite3.sqlite_version} of Python's sqlite3 ({source_id})"
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
    return version, f"Python package {package} {version}"


def _extension(package: str) -> Path | None:
    """Return the compiled module of a binding, which is usually named like it with ``_`` in front."""
    spec = importlib.util.find_spec(f"_{package}")
    path = Path(spec.origin) if spec and spec.origin else None
    return path if path is not None and path.is_file() else None
