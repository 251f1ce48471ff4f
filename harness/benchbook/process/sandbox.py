"""Start the programs of an unpacked image without a container engine: bubblewrap shows them the image as their root.

The program sees the image read-only, the trial's folders under their own paths, and the machine's network. Nothing
else is writable but a private ``/tmp``, ``/var/tmp``, ``/run`` and ``/dev/shm``. It has the variables of its image and
none of the harness's. In its user namespace it has the user of its image. Outside, that is the harness's user, who owns
the files.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.process import launch, spawn
from benchbook.process.containers import Containers
from benchbook.process.launch import CALL_SECONDS, Launch, Program

PROGRAM = "bwrap"
KERNEL = "/proc", "/dev"
SCRATCH = "/tmp", "/var/tmp", "/run", "/dev/shm"  # noqa: S108 - empty folders in memory, inside the sandbox
HOSTS = "/etc/hosts"
"""File that maps ``localhost``; images leave it to the engine."""


CONFIGURATION = "image.json"
"""File next to the root of an unpacked image: its digest, and what it says about its processes."""


@dataclass(frozen=True)
class Unpacked:
    """The root of an image on this machine, and what the image says about its processes."""

    root: Path
    user: str
    """``UID:GID`` of its processes, inside the sandbox."""
    folder: str
    """Folder in which its programs start."""
    environment: Mapping[str, str]

    @classmethod
    def of(cls, program: Program) -> Unpacked:
        """Return the image of a program."""
        assert program.root is not None
        stated = json.loads(program.root.with_name(CONFIGURATION).read_text(encoding="utf-8"))["config"]
        variables = dict(one.split("=", 1) for one in stated.get("Env") or [] if "=" in one)
        user = (program.container and program.container.user) or "0:0"
        return cls(program.root, user, stated.get("WorkingDir") or "/", variables)


def inside(root: Path, name: str, *, last: bool = True) -> Path:
    """Return the place of ``name`` below ``root``, where links are followed as if ``root`` were ``/``.

    With ``last=False`` the last part itself is not followed. Raise OSError if links form a circle.
    """
    waiting, links = list(reversed(Path(name).parts)), 0
    found: list[str] = []
    while waiting:
        part = waiting.pop()
        if part in ("/", ".", ""):
            continue
        if part == "..":
            found = found[:-1]
            continue
        place = root.joinpath(*found, part)
        if place.is_symlink() and (last or waiting):
            links += 1
            if links > 40:
                raise OSError(errno.ELOOP, "too many links", f"{name} in {root}")
            target = place.readlink()
            found = [] if target.is_absolute() else found
            waiting += reversed(target.parts)
        else:
            found.append(part)
    return root.joinpath(*found)


class Sandboxed(spawn.Running):
    """A server in a sandbox. The process that the harness started is bubblewrap, which waits for the server."""

    def tree(self) -> list[int]:
        """Return the process ids of the server and its descendants, without bubblewrap's."""
        return super().tree()[1:]

    def _signal(self, number: signal.Signals) -> None:
        if number == signal.SIGKILL:
            super()._signal(number)
            return
        for pid in self.tree():  # bubblewrap would end at once, before the server has stopped
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def _ending_text(self, code: int) -> str:
        # bubblewrap ends with 128 and the number of the signal that ended the server.
        return super()._ending_text(128 - code if code - 128 in signal.valid_signals() else code)


class Sandbox:
    """The sandboxes of one system in one trial."""

    def __init__(self, program: Program, folders: Sequence[Path], registry: Path | None) -> None:
        self._image, self._registry = Unpacked.of(program), registry
        self._mounts = _mounts(self._image.root, [str(folder.resolve()) for folder in folders])
        self.host: str | None = None

    def start(
        self,
        command: Sequence[str | Path],
        *,
        name: str,
        log: Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Sandboxed:
        """Start a server in a sandbox."""
        variables = self._variables(environment)
        started = spawn.start(
            self.command(command, cwd, variables),
            name=name, log=log, environment=variables, registry=self._registry,
        )  # fmt: skip
        return Sandboxed(started.process, name, log, self._registry, started.mark)

    def call(
        self,
        command: Sequence[str | Path],
        timeout_seconds: float = CALL_SECONDS,
        *,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the image to its end in a separate sandbox."""
        variables = self._variables(environment)
        return launch.call(
            self.command(command, cwd, variables), timeout_seconds, env={**os.environ, **variables}
        )

    def usage(self) -> Mapping[str, float]:
        """Return nothing: telemetry reads the processes, which are this machine's."""
        return {}

    def close(self) -> None:
        """Do nothing: the driver has stopped its servers, and bubblewrap leaves nothing."""

    def command(
        self, command: Sequence[str | Path], cwd: Path | None, variables: Collection[str]
    ) -> list[str]:
        """Return the command that runs ``command`` in a sandbox with these variables of its environment.

        Their values stay out of the command line, which other users can read.
        """
        user, _, group = self._image.user.partition(":")
        foreign = [part for name in os.environ if name not in variables for part in ("--unsetenv", name)]
        return [
            bubblewrap(), "--die-with-parent", "--unshare-user", "--unshare-ipc", "--uid", user, "--gid", group or user,
            *self._mounts, *foreign, "--chdir", str(cwd) if cwd else self._image.folder, "--", *map(str, command),
        ]  # fmt: skip

    def _variables(self, added: Mapping[str, str] | None) -> dict[str, str]:
        return {"PATH": os.defpath, **self._image.environment, **(added or {})}


def _mounts(root: Path, folders: Sequence[str]) -> list[str]:
    """Return the arguments that show an image, the trial's folders and the kernel's."""
    hosts = [HOSTS] if Path(HOSTS).is_file() else []
    found = _shown(root, "/", {*KERNEL, *SCRATCH, *folders, *hosts})
    found += ["--ro-bind", "/proc", "/proc", "--dev", "/dev"]
    for name in SCRATCH:
        found += ["--tmpfs", name]
    held = root / "run"
    for folder in sorted(held.iterdir()) if held.is_dir() and not held.is_symlink() else []:
        found += ["--dir", f"/run/{folder.name}"] if folder.is_dir() else []
    for name in hosts:
        found += ["--ro-bind", name, name]
    for name in folders:
        found += ["--bind", name, name]
    return [*found, "--remount-ro", "/dev", "--remount-ro", "/"]


def _shown(root: Path, name: str, free: Collection[str]) -> list[str]:
    """Return the arguments that show a folder of the image, except the places in ``free``, which others fill.

    The root of a sandbox is an empty folder: a place inside a folder that is shown as a whole could not be made.
    """
    found = []
    with os.scandir(f"{root}{name}") as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            place = f"{name.rstrip('/')}/{entry.name}"
            if place in free:
                continue
            if any(one.startswith(f"{place}/") for one in free):
                found += ["--dir", place]
                found += _shown(root, place, free) if entry.is_dir(follow_symlinks=False) else []
            elif entry.is_symlink():
                found += ["--symlink", str(Path(entry.path).readlink()), place]
            else:
                found += ["--ro-bind", entry.path, place]
    return found


@contextlib.contextmanager
def launching(program: Program, folders: Sequence[Path], registry: Path | None) -> Iterator[Launch | None]:
    """Yield what starts the programs of an image for one trial; None for a program without an image."""
    if program.image is not None:
        with contextlib.closing(Containers(program, folders, registry)) as made:
            yield made
    else:
        yield Sandbox(program, folders, registry) if program.root is not None else None


def bubblewrap() -> str:
    """Return the path of bubblewrap; raise TrialFailed if it is gone."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise TrialFailed(
            f"{PROGRAM}, which runs images without an engine, is no longer on PATH.",
            f"Install it with: {INSTALL}",
        )
    return found


INSTALL = "sudo apt-get install bubblewrap"


def refusal(environment: Mapping[str, str]) -> str | None:
    """Return why this machine cannot run sandboxes, or None: try an empty one."""
    found = shutil.which(PROGRAM, path=environment.get("PATH"))
    if found is None:
        return f"no {PROGRAM} on PATH"
    try:
        tried = launch.call(
            [found, "--unshare-user", "--ro-bind", "/", "/", "--", "/proc/self/exe", "--version"], 10.0
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{found} cannot run: {error}"
    if tried.returncode != 0:
        return f"this machine allows no user namespaces ({' '.join(tried.stderr.split()).removeprefix('bwrap: ')})"
    return None
