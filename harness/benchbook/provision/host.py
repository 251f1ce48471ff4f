"""Host: a program on PATH, or where distributions keep it, that states exactly the pinned version."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.provision import digest, stated
from benchbook.provision.request import Missing, Request
from benchbook.systems.program import Program

if TYPE_CHECKING:
    from benchbook.declare.system import System


def find(system: System, request: Request) -> Program | Missing | None:
    """Return the program on PATH, else of the declared folders, when it is the pinned version."""
    source = system.source.host
    if source is None:
        return None
    searched = [request.environment.get("PATH", os.defpath), *source.folders]
    found = shutil.which(source.program, path=os.pathsep.join(searched))
    if found is None:
        where = " or in ".join(["on PATH", *source.folders])
        return Missing(
            f"host: no {source.program} {where}",
            f"apt-get install {source.package}" if source.package else None,
        )
    path = Path(found).absolute()
    states = stated.version(system, path)
    if states is None or not system.accepts(states):
        return Missing(f"host: {path} states version {states}, not {system.version}")
    return Program(
        system.name, states, "host", path=path, digest=digest.of(path), detail=f"on this machine, {path}"
    )


def preview(system: System, request: Request) -> str | Missing | None:
    """Say which program would be used; it is asked for its version."""
    found = find(system, request)
    return f"use {found.path} (on this machine)" if isinstance(found, Program) else found
