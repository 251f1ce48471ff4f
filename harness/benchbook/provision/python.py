"""Python: the official binding of an embedded system, from the locked environment or the standard library."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.provision import digest
from benchbook.provision.request import Missing, Request
from benchbook.systems.driver import Program

if TYPE_CHECKING:
    from benchbook.declare.system import System

STANDARD_LIBRARY = "sqlite3"
"""The one binding that comes with Python; its version is that of the SQLite library it was linked to."""


def find(system: System, request: Request) -> Program | Missing | None:  # noqa: ARG001 - the shape of a source
    """Return the binding when its library is the pinned version; the digest is that of the extension."""
    source = system.source.python
    if source is None:
        return None
    found = _version(source.package)
    if found is None:
        return Missing(
            f"python: no package {source.package} in this environment", f"pip install {source.package}"
        )
    version, detail = found
    if not system.accepts(version):
        return Missing(f"python: {source.package} is {version}, not {system.version}")
    extension = _extension(source.package)
    return Program(
        system.name, version, "python", digest=digest.of(extension) if extension else None, detail=detail
    )


def preview(system: System, request: Request) -> str | Missing | None:
    """Say which binding would be used."""
    found = find(system, request)
    return f"use {found.detail}" if isinstance(found, Program) else found


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
