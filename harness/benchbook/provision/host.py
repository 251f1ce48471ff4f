"""Programs of this machine: on PATH, or where distributions install them, at exactly the pinned version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.process.launch import Program, call
from benchbook.provision.request import Missing, Request, program_at

if TYPE_CHECKING:
    from benchbook.declare.system import System


TIMEOUT_SECONDS = 30.0


def version(system: System, program: Path) -> str | None:
    """Return the version that ``program`` reports, or None if its declaration has no version command.

    If the program cannot run, or its output has no version, return ``unknown (…)`` with the reason, which matches no
    pin.
    """
    source = system.source.host or system.source.build
    if source is None:
        return None
    command = [part.replace("{program}", str(program)) for part in source.version_command]
    try:
        ran = call(command, TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return f"unknown (no answer in {TIMEOUT_SECONDS:.0f} s)"
    except OSError as error:
        return f"unknown ({error.strerror or error})"
    output = ran.stdout + ran.stderr
    found = re.search(source.version_pattern, output)
    if found is None:
        return f"unknown (its output:  {' '.join(output.split())[:120]!r})"
    return found.group(1) if found.groups() else found.group(0)


def find(system: System, request: Request) -> Program | Missing | None:
    """Return the first program with the pinned version on PATH, else in the declared folders."""
    source = system.source.host
    if source is None:
        return None
    searched = [*request.environment.get("PATH", os.defpath).split(os.pathsep), *source.folders]
    found = [shutil.which(source.program, path=folder) for folder in dict.fromkeys(searched)]
    paths = dict.fromkeys(Path(path).absolute() for path in found if path)
    if not paths:
        where = " or in ".join(["on PATH", *source.folders])
        return Missing(
            f"host: no {source.program} {where}",
            f"apt-get install {source.package}" if source.package else None,
        )
    reported = []
    for path in paths:
        found_version = version(system, path)
        if found_version is not None and system.accepts(found_version):
            return program_at(system, found_version, "host", path, f"on this machine, {path}")
        reported.append(f"{path} reports version {found_version}")
    return Missing(f"host: {', '.join(reported)}, not {system.version}")


def preview(system: System, request: Request) -> str | Missing | None:
    """Describe which program would be used, after checking its version."""
    found = find(system, request)
    return f"use {found.path} (on this machine)" if isinstance(found, Program) else found
