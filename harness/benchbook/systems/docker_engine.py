"""The Docker engine of this machine: a connection to it, or in words why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docker import DockerClient

SOCKET = "unix:///var/run/docker.sock"
VARIABLE = "DOCKER_HOST"
ANSWER_SECONDS = 5.0
WORK_SECONDS = 600.0
"""How long one request to an engine that answers may take: a container of a large memory stops slowly."""


@dataclass(frozen=True)
class NoEngine:
    """Why there is no engine, and the command that most likely gives one."""

    words: str
    command: str


def address(environment: Mapping[str, str]) -> str:
    """Return where the engine listens: ``DOCKER_HOST``, or the usual socket."""
    return environment.get(VARIABLE) or SOCKET


def connect(environment: Mapping[str, str]) -> DockerClient | NoEngine:
    """Return a connection to the engine, which has answered; NoEngine where none does.

    An engine on another machine is refused: containers there would not see the trial's folders.
    """
    where = address(environment)
    if not where.startswith("unix://"):
        return NoEngine(
            f"{VARIABLE}={where} is an engine that does not share this machine's files",
            f"unset {VARIABLE}  # or start the server there and give --system NAME=URL",
        )
    socket = Path(where.removeprefix("unix://"))
    if not socket.exists():
        return NoEngine(
            f"no Docker engine listens on {socket}",
            "sudo apt-get install docker.io && sudo systemctl start docker",
        )
    import docker

    try:
        # Asking for the version is the first request; a socket that nobody serves fails here.
        return docker.DockerClient(base_url=where, version="auto", timeout=int(WORK_SECONDS))
    except docker.errors.DockerException as error:
        if "Permission denied" in str(error):
            return NoEngine(
                f"the Docker engine on {socket} may not be used by this user",
                'sudo usermod --append --groups docker "$USER"  # then log in again',
            )
        return NoEngine(f"no Docker engine answers on {socket}", "sudo systemctl start docker")
