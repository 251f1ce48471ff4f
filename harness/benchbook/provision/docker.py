"""Docker: says whether an engine answers. No system runs through Docker yet, and none is tried silently."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from benchbook.provision.request import Missing, Request

if TYPE_CHECKING:
    from benchbook.declare.system import System

TIMEOUT_SECONDS = 3.0


def find(system: System, request: Request) -> Missing | None:
    """Return Missing: running a system from its image is not built yet, whether or not an engine answers."""
    source = system.source.docker
    if source is None:
        return None
    image = f"{source.image}@{source.digest}" if source.digest else source.image
    words = f"docker: {engine(request)}; running {image} is not supported yet, so it was not tried"
    return Missing(words, _copied(system.name, image, source.program) if source.program else None)


def _copied(name: str, image: str, program: str) -> str:
    """Return the command that copies a program out of its image, and how it is then given."""
    return f'docker cp "$(docker create {image})":{program} ./{name} && bench … --system {name}=./{name}'


def preview(system: System, request: Request) -> Missing | None:
    """Return what ``find`` returns."""
    return find(system, request)


def engine(request: Request) -> str:
    """Say in words whether a Docker engine answers."""
    program = shutil.which("docker", path=request.environment.get("PATH"))
    if program is None:
        return "no docker command on PATH"
    try:
        ran = subprocess.run(
            [program, "version", "--format", "{{.Server.Version}}"],
            env=dict(request.environment),
            stdin=subprocess.DEVNULL,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "the docker command does not answer"
    if ran.returncode != 0:
        return "no engine answers the docker command"
    return f"engine {ran.stdout.strip()} answers"
