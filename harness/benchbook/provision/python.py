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
from benchbook.process.launch import Program
from benchbook.provision import cache
from benchbook.provision.request import Missing, Request

if TYPE_CHECKING:
    from benchbook.declare.system import System


# Python packages that the locked environment has not: clients of some servers, and servers that come as packages.


def client(system: System) -> Missing | None:
    """Return what is missing where a system is driven by a Python package that is not installed; else None."""
    wanted = system.client
    if wanted is None or importlib.util.find_spec(wanted.module.partition(".")[0]) is not None:
        return None
    return Missing(
        f"its client, the Python package {wanted.package}, is not installed",
        command(system),
    )


def command(system: System) -> str:
    """Return the command that installs what a system needs besides the locked environment."""
    wanted = [f"{system.client.package}=={system.client.version}"] if system.client else []
    source = system.source.python
    if source is not None and source.program:
        wanted.insert(0, f"{source.package}=={system.version}")
    if Path(sys.prefix).is_relative_to("/nix/store"):  # takes no more packages
        return f"./bench, without Nix, in whose environment they can be installed: {' '.join(wanted)}"
    return shlex.join([*_installer(Path(sys.prefix)), *wanted])


def _installer(environment: Path) -> list[str]:
    """Return how packages get into this environment: uv where it made it, which leaves no pip there."""
    own = environment.parent / "uv" / "bin" / "uv"
    uv = _shown(own) if own.is_file() else shutil.which("uv")
    python = _shown(environment / "bin" / "python")
    return [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]


def _shown(path: Path) -> str:
    """Return a path as it is typed in the checkout, where ``./bench`` is typed too."""
    return str(path.relative_to(root())) if path.is_relative_to(root()) else str(path)


# Python: the binding of an embedded system in this environment, or a server that comes as a Python package.

STANDARD_LIBRARY = "sqlite3"
"""The one binding that comes with Python; its version is that of the SQLite library it was linked to."""


def find(system: System, request: Request) -> Program | Missing | None:  # noqa: ARG001 - the shape of a source
    """Return the binding when its library is the pinned version; the digest is that of the extension."""
    source = system.source.python
    if source is None:
        return None
    found = _version(source.package)
    if found is None:
        wanted = command(system) if source.program else f"pip install {source.package}"
        return Missing(f"python: no package {source.package} in this environment", wanted)
    version, detail = found
    if not system.accepts(version):
        words = f"python: {source.package} is {version}, not {system.version}"
        return Missing(words, command(system) if source.program else None)
    if source.program:
        return _server(system, source.package, source.program, detail)
    extension = _extension(source.package)
    return Program(
        system.name,
        version,
        "python",
        digest=cache.sha256_of(extension) if extension else None,
        detail=detail,
    )


def preview(system: System, request: Request) -> str | Missing | None:
    """Say which binding would be used."""
    found = find(system, request)
    return f"use {found.detail}" if isinstance(found, Program) else found


def _server(system: System, package: str, program: str, detail: str) -> Program | Missing:
    """Return the program of a server in the folder of its package."""
    if shutil.which("java") is None:
        return Missing("python: no java on PATH to run it", "sudo apt-get install openjdk-17-jdk-headless")
    spec = importlib.util.find_spec(package)
    path = Path(spec.origin).parent / program if spec and spec.origin else None
    if path is None or not path.is_file():
        return Missing(f"python: the package {package} has no {program}", command(system))
    return Program(
        system.name, system.version, "python", path=path, digest=cache.sha256_of(path), detail=detail
    )


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
    """Return the compiled module behind a binding, which by custom has its name with ``_`` before it."""
    spec = importlib.util.find_spec(f"_{package}")
    path = Path(spec.origin) if spec and spec.origin else None
    return path if path is not None and path.is_file() else None
