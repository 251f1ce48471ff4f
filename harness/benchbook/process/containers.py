"""Start the programs of a system in containers of one image, and sweep the containers of killed harnesses.

A container mounts the trial's folders under their own paths, so a driver writes the same configuration with and without
a container.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.errors import TrialFailed
from benchbook.host import extras
from benchbook.host.identity import identity
from benchbook.measure.usage import ControlGroup
from benchbook.process import leftovers, network, output
from benchbook.process.launch import CALL_SECONDS, ContainerOptions, Program
from benchbook.process.spawn import GRACE_SECONDS, log_end
from benchbook.process.wait import until

if TYPE_CHECKING:
    from docker import DockerClient

INSTALL = "sudo apt-get install docker.io && sudo systemctl start docker"
"""Command that installs and starts an engine."""
SOCKET = "unix:///var/run/docker.sock"
PODMAN_SOCKETS = "/run/user/{user}/podman/podman.sock", "/run/podman/podman.sock"
"""Where podman serves the interface of Docker's engine, to a user and to root."""
VARIABLE = "DOCKER_HOST"
REQUEST_SECONDS = 600.0
"""Time limit of one request to the engine: a container with much memory stops slowly."""
EXIT_NOTICE_SECONDS = 5.0
"""Time that the engine may take to notice that the process of a container has ended."""
LABEL = "benchbook"
"""Label of every container and network that Benchbook creates."""
KEPT = {"max-size": f"{output.MOST_BYTES >> 20}m"}
"""What the engine keeps of the output of a program that is called: the last part of it."""
RECORD = ".container"
"""Suffix of the file that registers a name before anything is created under it."""


@dataclass(frozen=True)
class NoEngine:
    """Why no Docker engine is available, and the command that most likely fixes that."""

    reason: str
    command: str


def address(environment: Mapping[str, str]) -> str:
    """Return the engine's address: ``DOCKER_HOST``, else Docker's socket, or podman's if only that exists."""
    if configured := environment.get(VARIABLE):
        return configured
    sockets = (SOCKET.removeprefix("unix://"), *(one.format(user=os.getuid()) for one in PODMAN_SOCKETS))
    return f"unix://{next((one for one in sockets if Path(one).exists()), sockets[0])}"


def connect(environment: Mapping[str, str]) -> DockerClient | NoEngine:
    """Return a connection to an engine that has answered, or NoEngine with the reason.

    Engines on other machines are refused, because containers there do not see the trial's folders.
    """
    where = address(environment)
    if not where.startswith("unix://"):
        return NoEngine(
            f"{VARIABLE}={where} names an engine that does not share this machine's files",
            f"unset {VARIABLE}  # or start the server there and give --system NAME=URL",
        )
    socket = Path(where.removeprefix("unix://"))
    if not socket.exists():
        return NoEngine(
            f"no Docker engine listens on {socket}",
            INSTALL,
        )
    if extras.missing(["docker"]):
        return NoEngine(f"{extras.named('docker')} is not installed", extras.command("docker"))
    import docker

    try:
        # The client requests the version first, so a socket without an engine fails here.
        return docker.DockerClient(base_url=where, version="auto", timeout=int(REQUEST_SECONDS))
    except docker.errors.DockerException as error:
        if "Permission denied" in str(error):
            return NoEngine(
                f"this user may not use the Docker engine on {socket}",
                'sudo usermod --append --groups docker "$USER"  # then log in again',
            )
        return NoEngine(f"no Docker engine answers on {socket}", "sudo systemctl start docker")


class Container:
    """One server in a container, the counterpart of ``spawn.Running``; ``handle`` is its object in Docker's SDK."""

    def __init__(self, handle: Any, name: str, log: Path) -> None:
        self._handle = handle
        self.name = name
        self.log = log
        # Attach before the start: no output is lost, and the engine keeps no second copy.
        stream = handle.attach(stdout=True, stderr=True, stream=True, logs=False)
        self._writer = threading.Thread(target=_keep, args=(stream, log), daemon=True)
        self._writer.start()
        handle.start()
        handle.reload()
        self.pid = int(handle.attrs["State"]["Pid"])
        self._identity = identity(self.pid) if self.pid else None
        self.group = ControlGroup.of(self.pid) if self.pid else ControlGroup({})
        self._ending: str | None = None

    def ending(self) -> str | None:
        """Return how it ended, or None while it runs. Asks the engine only if the process is gone."""
        if self._ending is None and not self._alive():
            self._ending = self._exit_status()
        return self._ending

    def _alive(self) -> bool:
        return self._identity is not None and identity(self.pid) == self._identity

    def _exit_status(self) -> str:
        def noticed() -> bool:
            self._handle.reload()
            return not self._handle.attrs["State"].get("Running")

        try:
            until(noticed, EXIT_NOTICE_SECONDS, pause=0.02)
        except Exception:  # the container, or the engine, is gone
            return "was removed, or its engine stopped"
        state = self._handle.attrs["State"]
        if state.get("OOMKilled"):
            return "was ended because it used more memory than its limit"
        return f"exited with code {state.get('ExitCode')}"

    def check(self) -> None:
        """Raise TrialFailed with the end of its log if it has died."""
        ending = self.ending()
        if ending is not None:
            self._writer.join(timeout=1)
            raise TrialFailed(
                f"{self.name}, in a container, {ending}. The end of its log: {log_end(self.log)}",
                f"The whole log is {self.log}.",
            )

    def tree(self) -> list[int]:
        """Return the process ids in the container, in this machine's numbering."""
        return [] if self.ending() is not None else self.group.pids() or [self.pid]

    def kill(self) -> None:
        """Kill it at once."""
        self._signal(signal.SIGKILL)

    def wait_ending(self, seconds: float) -> None:
        """Wait until it has ended, at most ``seconds``."""
        until(self.ending, seconds, pause=0.01)

    def stop(
        self, grace_seconds: float = GRACE_SECONDS, first: signal.Signals | None = signal.SIGTERM
    ) -> None:
        """Send ``first``, then SIGKILL after ``grace_seconds``; then remove it and its anonymous volumes."""
        if first is not None and self.ending() is None:
            self._signal(first)
        self.wait_ending(grace_seconds)
        self._writer.join(timeout=0 if self._alive() else 5)
        remove(self._handle)
        self._ending = self._ending or "was removed"

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(Exception):  # it or its engine has ended
            self._handle.kill(signal=number.name)


def remove(handle: Any) -> None:
    """Remove a container and its anonymous volumes by force; ignore one that is gone."""
    with contextlib.suppress(Exception):
        handle.remove(v=True, force=True)


def _keep(stream: Iterator[bytes], log: Path) -> None:
    """Copy the output of a container to its log until it ends."""
    with log.open("ab", buffering=0) as file, contextlib.suppress(Exception):
        for part in stream:
            file.write(part)


class Containers:
    """The containers of one system in one trial."""

    def __init__(self, program: Program, folders: Sequence[Path], registry: Path | None) -> None:
        """Connect to the engine; create the private network if the options request one."""
        engine = connect(os.environ)
        if isinstance(engine, NoEngine):
            raise TrialFailed(
                f"{program.system} runs from a container image, but {engine.reason}.",
                f"Fix it with: {engine.command}",
            )
        self._engine: DockerClient = engine
        self._program = program
        self._options = program.container or ContainerOptions()
        self._folders = [folder.resolve() for folder in folders]
        self._registry = registry
        self._name = f"benchbook-{secrets.token_hex(6)}"
        self._started: list[Container] = []
        self._last_usage: dict[str, float] = {}
        self._register()
        self._network = None
        self.host: str | None = None
        """The server's address in a private network; None on the machine's network."""
        if self._options.network == "private":
            try:
                self._network, self.host = network.make(engine, self._name, LABEL)
            except BaseException:
                self.close()
                raise

    def start(
        self,
        command: Sequence[str | Path],
        *,
        name: str,
        log: Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Container:
        """Start a server in a separate container."""
        made = self._create(command, cwd, environment, "none", self.host)
        try:
            started = Container(made, name, log)
        except Exception as error:
            remove(made)
            raise TrialFailed(
                f"{name} could not be started in a container: {_explanation(error)}."
            ) from error
        self._started.append(started)
        return started

    def call(
        self,
        command: Sequence[str | Path],
        timeout_seconds: float = CALL_SECONDS,
        *,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the image to its end in a separate container on the same network."""
        import requests

        made = self._create(command, cwd, environment, "json-file", None)
        try:
            made.start()
            code = int(made.wait(timeout=timeout_seconds)["StatusCode"])
            out, err = (
                made.logs(stdout=kind == "out", stderr=kind == "err").decode(errors="replace")
                for kind in ("out", "err")
            )
        except requests.exceptions.RequestException as error:
            raise subprocess.TimeoutExpired([str(part) for part in command], timeout_seconds) from error
        except Exception as error:
            raise OSError(_explanation(error)) from error
        finally:
            remove(made)
        return subprocess.CompletedProcess([str(part) for part in command], code, out, err)

    def usage(self) -> Mapping[str, float]:
        """Return the counters of the servers' control groups; for servers that have ended, the last reading."""
        now: dict[str, float] = {}
        for started in self._started:
            for metric, value in started.group.usage().items():
                now[metric] = now.get(metric, 0.0) + value
        if now:
            self._last_usage = {
                name: max(value, self._last_usage.get(name, 0.0))
                for name, value in now.items()
                if name != "memory_bytes"
            }
        return now or self._last_usage

    def close(self) -> None:
        """Remove the containers of the trial, then its private network."""
        for started in self._started:
            started.stop(grace_seconds=0.0, first=None)
        _clear(self._engine, self._name)
        with contextlib.suppress(Exception):
            self._engine.close()
        if self._registry is not None:
            with contextlib.suppress(OSError):
                (self._registry / f"{self._name}{RECORD}").unlink(missing_ok=True)

    def _create(
        self,
        command: Sequence[str | Path],
        cwd: Path | None,
        environment: Mapping[str, str] | None,
        log_driver: str,
        address: str | None,
    ) -> Any:
        options, where = self._options, {}
        if self._network is None:
            where["network_mode"] = "host"
        else:
            where |= network.place(self._engine, self._network, address)
        # With swap, a system would exceed its limit slowly instead of hitting it.
        limits = {
            "nano_cpus": round(options.cpus * 1e9) if options.cpus else None,
            "cpuset_cpus": options.cores,
            "mem_limit": options.memory_bytes,
            "memswap_limit": options.memory_bytes,
        }
        try:
            return self._engine.containers.create(
                self._program.image,
                entrypoint=[str(part) for part in command],
                command=[],
                name=f"{self._name}-{secrets.token_hex(2)}",
                labels={LABEL: self._name},
                user=options.user or f"{os.getuid()}:{os.getgid()}",
                working_dir=str(cwd) if cwd else None,
                environment=dict(environment or {}),
                volumes=[f"{folder}:{folder}" for folder in self._folders],
                log_config={"type": log_driver, **({"config": KEPT} if log_driver == "json-file" else {})},
                **{name: value for name, value in limits.items() if value is not None},
                **where,
            )
        except Exception as error:
            raise TrialFailed(
                f"Cannot create a container of {self._program.image}: {_explanation(error)}."
            ) from error

    def _register(self) -> None:
        """Record the name before anything is created under it, so that a sweep after a crash finds everything."""
        if self._registry is not None:
            record = {
                "name": self._name,
                "system": self._program.system,
                "engine": os.environ.get(VARIABLE, ""),
            }
            leftovers.write_record(self._registry / f"{self._name}{RECORD}", record)


def sweep(registry: Path) -> list[str]:
    """Remove the containers and networks that dead harnesses left; return a description of each.

    A record stays if its engine does not answer.
    """
    found: list[str] = []
    for file, record in leftovers.abandoned(registry, f"*{RECORD}"):
        engine = connect({VARIABLE: str(record.get("engine") or "")})
        if isinstance(engine, NoEngine):
            continue
        name = str(record.get("name"))
        if _clear(engine, name):
            found.append(f"{record.get('system')} (container {name})")
        engine.close()
        file.unlink(missing_ok=True)
    return found


def _clear(engine: DockerClient, name: str) -> int:
    """Remove everything that carries a trial's label; return the number of containers."""
    left: list[Any] = []
    with contextlib.suppress(Exception):
        left = engine.containers.list(all=True, ignore_removed=True, filters={"label": f"{LABEL}={name}"})
        for one in left:
            remove(one)
        for network in engine.networks.list(filters={"label": f"{LABEL}={name}"}):
            network.remove()
    return len(left)


def _explanation(error: Exception) -> str:
    """Return the engine's explanation of an error."""
    return str(getattr(error, "explanation", None) or error).strip().rstrip(".")
