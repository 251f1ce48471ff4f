"""Own: the load tool that this run uses anyway, which is a server too (``benchload null-server``)."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.process.launch import Program
from benchbook.provision import cache
from benchbook.provision.request import Missing, Request

if TYPE_CHECKING:
    from benchbook.declare.system import System


def find(system: System, request: Request) -> Program | Missing | None:
    """Return the load tool."""
    if system.source.own is None:
        return None
    named = request.environment.get("BENCHBOOK_BENCHLOAD")
    found = named or shutil.which("benchload", path=request.environment.get("PATH"))
    if not found or not Path(found).is_file():
        return Missing("own: benchload is not built", "./bench list")
    path = Path(found).absolute()
    stated = str(
        json.loads(subprocess.run([path, "version"], capture_output=True, check=True).stdout)["version"]
    )
    if not system.accepts(stated):
        return Missing(f"own: benchload is {stated}, not {system.version}")
    return Program(
        system.name, stated, "own", path=path, digest=cache.sha256_of(path), detail="Benchbook's load tool"
    )


def preview(system: System, request: Request) -> str | Missing | None:
    """Say that it is the load tool."""
    found = find(system, request)
    return "use Benchbook's own load tool" if isinstance(found, Program) else found
