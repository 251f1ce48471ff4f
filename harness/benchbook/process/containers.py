"""Start the programs of a system in containers of one image, and remove what a killed harness left behind."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.errors import TrialFailed
from benchbook.measure.usage import ControlGroup
from benchbook.process import leftovers, network
from benchbook.process.launch import CALL_SECONDS, ContainerOptions, Program
from benchbook.process.spawn import GRACE_SECONDS, last_words

if TYPE_CHECKING:
    from docker import DockerClient


# The Docker engine of this machine: a connection to it, or in words why there is none.

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


# One server in a container: its log, its last words, its end; the counterpart of ``process.Running``.

NOTICE_SECONDS = 5.0
"""How long the engine may take to notice that the process of a container has ended."""


class Container:
    """A container that was started; ``handle`` is its object in Docker's SDK."""

    def __init__(self, handle: Any, words: str, log: Path) -> None:
        self._handle = handle
        self.words = words
        self.log = log
        # Attached before the start: nothing that it says is lost, and the engine keeps no second copy.
        stream = handle.attach(stdout=True, stderr=True, stream=True, logs=False)
        self._writer = threading.Thread(target=_keep, args=(stream, log), daemon=True)
        self._writer.start()
        handle.start()
        handle.reload()
        self.pid = int(handle.attrs["State"]["Pid"])
        self._identity = leftovers.identity(self.pid) if self.pid else None
        self.group = ControlGroup.of(self.pid) if self.pid else ControlGroup({})
        self._ending: str | None = None

    def ending(self) -> str | None:
        """Say how it ended, or None while it runs. The engine is asked only when its process is gone."""
        if self._ending is None and not self._alive():
            self._ending = self._ask()
        return self._ending

    def _alive(self) -> bool:
        return self._identity is not None and leftovers.identity(self.pid) == self._identity

    def _ask(self) -> str:
        deadline = time.monotonic() + NOTICE_SECONDS
        state: dict[str, Any] = {}
        while time.monotonic() < deadline:
            try:
                self._handle.reload()
            except Exception:  # the container, or the engine, is gone
                return "was removed, or its engine stopped"
            state = self._handle.attrs["State"]
            if not state.get("Running"):
                break
            time.sleep(0.02)
        if state.get("OOMKilled"):
            return "was ended because it used more memory than its limit"
        return f"exited with code {state.get('ExitCode')}"

    def check(self) -> None:
        """Raise TrialFailed with its last words when it has died."""
        ending = self.ending()
        if ending is not None:
            self._writer.join(timeout=1)
            raise TrialFailed(
                f"{self.words}, in a container, {ending}. Its last words: {last_words(self.log)}",
                f"Its whole log is {self.log}.",
            )

    def tree(self) -> list[int]:
        """Process ids of all in the container, as this machine numbers them."""
        return [] if self.ending() is not None else self.group.pids() or [self.pid]

    def kill(self) -> None:
        """Kill it at once."""
        self._signal(signal.SIGKILL)

    def wait_ending(self, seconds: float) -> None:
        """Return when it has ended, or after ``seconds``."""
        deadline = time.monotonic() + seconds
        while self.ending() is None and time.monotonic() < deadline:
            time.sleep(0.01)

    def stop(
        self, grace_seconds: float = GRACE_SECONDS, first: signal.Signals | None = signal.SIGTERM
    ) -> None:
        """End it: ``first``, SIGKILL after ``grace_seconds``; then remove it and its anonymous volumes."""
        if first is not None and self.ending() is None:
            self._signal(first)
        self.wait_ending(grace_seconds)
        self._writer.join(timeout=0 if self._alive() else 5)
        remove(self._handle)
        self._ending = self._ending or "was removed"

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(Exception):  # it has ended by itself, or its engine has
            self._handle.kill(signal=number.name)


def remove(handle: Any) -> None:
    """Remove a container with its anonymous volumes, by force; one that is gone is fine."""
    with contextlib.suppress(Exception):
        handle.remove(v=True, force=True)


def _keep(stream: Iterator[bytes], log: Path) -> None:
    """Write what a container says into its log, until it ends."""
    with log.open("ab", buffering=0) as file, contextlib.suppress(Exception):
        for part in stream:
            file.write(part)


# Starts the programs of a system in containers of one image, and takes away what a killed harness left.
#
# The trial's folders are seen inside under the very paths they have outside, so that a driver writes the same
# configuration either way.

LABEL = "benchbook"
"""Label of every container and network that Benchbook makes."""
RECORD = ".container"
"""Ending of the file that registers a name before anything is made under it."""


class Containers:
    """Containers of one system in one trial."""

    def __init__(self, program: Program, folders: Sequence[Path], registry: Path | None) -> None:
        """Connect to the engine, and make the private network where one is asked for."""
        engine = connect(os.environ)
        if isinstance(engine, NoEngine):
            raise TrialFailed(f"{program.system} runs from an image: {engine.words}.", engine.command)
        self._engine: DockerClient = engine
        self._program = program
        self._options = program.container or ContainerOptions()
        self._folders = [folder.resolve() for folder in folders]
        self._registry = registry
        self._name = f"benchbook-{secrets.token_hex(6)}"
        self._started: list[Container] = []
        self._gone: dict[str, float] = {}
        self._register()
        self._network = None
        self.host: str | None = None
        """The server's address in a private network; None on the machine's own."""
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
        words: str,
        log: Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Container:
        """Start a server in a container of its own."""
        made = self._create(command, cwd, environment, "none", self.host)
        try:
            started = Container(made, words, log)
        except Exception as error:
            remove(made)
            raise TrialFailed(f"{words} could not be started in a container: {_words(error)}.") from error
        self._started.append(started)
        return started

    def call(
        self, command: Sequence[str | Path], timeout_seconds: float = CALL_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the image to its end in a container of its own, on the same network."""
        import requests

        made = self._create(command, None, None, "json-file", None)
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
            raise OSError(_words(error)) from error
        finally:
            remove(made)
        return subprocess.CompletedProcess([str(part) for part in command], code, out, err)

    def usage(self) -> Mapping[str, float]:
        """Return the counters of the servers' control groups; those of a server that has ended as last seen."""
        known: dict[str, float] = {}
        for started in self._started:
            for metric, value in started.group.usage().items():
                known[metric] = known.get(metric, 0.0) + value
        if known:
            self._gone = {
                name: max(value, self._gone.get(name, 0.0))
                for name, value in known.items()
                if name != "memory_bytes"
            }
        return known or self._gone

    def close(self) -> None:
        """Remove whatever is left of the trial, the private network last."""
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
        # Swap beside the limit would let a system exceed it slowly instead of meeting it.
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
                log_config={"type": log_driver},
                **{name: value for name, value in limits.items() if value is not None},
                **where,
            )
        except Exception as error:
            raise TrialFailed(
                f"No container of {self._program.image} can be made: {_words(error)}."
            ) from error

    def _register(self) -> None:
        """Write the name down before anything is made under it, so that no crash leaves it unknown."""
        if self._registry is None:
            return
        self._registry.mkdir(parents=True, exist_ok=True)
        record = {
            "name": self._name,
            "words": self._program.system,
            "owner_pid": os.getpid(),
            "owner_started": leftovers.identity(os.getpid()),
            "host": socket.gethostname(),
            "engine": os.environ.get("DOCKER_HOST", ""),
        }
        (self._registry / f"{self._name}{RECORD}").write_text(json.dumps(record) + "\n")


@contextlib.contextmanager
def launching(
    program: Program, folders: Sequence[Path], registry: Path | None
) -> Iterator[Containers | None]:
    """Give what starts a program from its image for one trial; None for a program without an image."""
    if program.image is None:
        yield None
        return
    with contextlib.closing(Containers(program, folders, registry)) as made:
        yield made


def sweep(registry: Path) -> list[str]:
    """Remove the containers and networks that dead harnesses left; return what each of them was.

    A record stays where its engine does not answer now, or its harness lives or was another machine's.
    """
    found: list[str] = []
    for file in sorted(registry.glob(f"*{RECORD}")) if registry.is_dir() else []:
        try:
            record = json.loads(file.read_text())
            name, owner, started = (
                str(record["name"]),
                int(record["owner_pid"]),
                str(record["owner_started"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            file.unlink(missing_ok=True)  # it was being written when the harness died: nothing was made yet
            continue
        if record.get("host") != socket.gethostname() or leftovers.identity(owner) == started:
            continue
        engine = connect({"DOCKER_HOST": str(record.get("engine") or "")})
        if isinstance(engine, NoEngine):
            continue
        if _clear(engine, name):
            found.append(f"{record.get('words')} (container {name})")
        engine.close()
        file.unlink(missing_ok=True)
    return found


def _clear(engine: DockerClient, name: str) -> int:
    """Remove all that carries a trial's label; return how many containers it were."""
    left: list[Any] = []
    with contextlib.suppress(Exception):
        left = engine.containers.list(all=True, filters={"label": f"{LABEL}={name}"})
        for one in left:
            remove(one)
        for network in engine.networks.list(filters={"label": f"{LABEL}={name}"}):
            network.remove()
    return len(left)


def _words(error: Exception) -> str:
    """Return the engine's own explanation of an error."""
    return str(getattr(error, "explanation", None) or error).strip().rstrip(".")
