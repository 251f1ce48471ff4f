"""Bundled: benchload itself, which is also a server (``benchload null-server``)."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.process.launch import Program
from benchbook.provision.request import Missing, Request, program_at

if TYPE_CHECKING:
    from benchbook.declare.system import System


def find(system: System, request: Request) -> Program | Missing | None:
    """Return benchload as a program."""
    if system.source.own is None:
        return None
    configured = request.environment.get("BENCHBOOK_BENCHLOAD")
    found = configured or shutil.which("benchload", path=request.environment.get("PATH"))
    if not found or not Path(found).is_file():
        return Missing("own: benchload is not built", "./bench list")
    path = Path(found).absolute()
    version = str(
        json.loads(subprocess.run([path, "version"], capture_output=True, check=True).stdout)["version"]
    )
    if not system.accepts(version):
        return Missing(f"own: benchload is {version}, not {system.version}")
    return program_at(system, version, "own", path, "Benchbook's benchload")


def preview(system: System, request: Request) -> str | Missing | None:
    """Describe that benchload would be used."""
    found = find(system, request)
    return "use Benchbook's benchload" if isinstance(found, Program) else found
