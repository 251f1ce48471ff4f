"""The request for a system, the reason why a source cannot provide it, and the cache of what was fetched or built."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import Unavailable
from benchbook.host import guarded
from benchbook.host.filesystem import cache_folder
from benchbook.host.provenance import sha256_of
from benchbook.process import interrupt
from benchbook.process.launch import Program
from benchbook.process.spawn import die_with_parent

if TYPE_CHECKING:
    from benchbook.declare.system import System


def _silent(text: str) -> None:
    """Ignore a progress message."""


@dataclass(frozen=True)
class Request:
    """Ways to obtain systems on this machine; everything has a default."""

    given: Mapping[str, str] = field(default_factory=dict)
    """``--system NAME=PATH-or-URL``: system name → path of a program or URL of a running server."""
    flag: str = "--system"
    """The option with which the user can give a program: that of a gate is ``--base`` or ``--head``."""
    go: Path | None = None
    """The ``go`` command for systems built from a Go module; None means the one on PATH."""
    cache: Path | None = None
    """Folder for built programs; None means ``$BENCHBOOK_CACHE``, else ``~/.cache/benchbook`` (XDG)."""
    image_lock: Path | None = None
    """File that locks tags of images to digests; None means ``systems/images.lock.json``."""
    progress: Callable[[str], None] = _silent
    """Called with a message, at most about once per second, during slow operations."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """Environment variables: PATH, BENCHBOOK_NIX_SYSTEMS, BENCHBOOK_CACHE, XDG_CACHE_HOME, HOME."""

    def cache_folder(self) -> Path:
        """Return the cache folder, which need not exist yet."""
        return self.cache if self.cache is not None else cache_folder(self.environment)


@dataclass(frozen=True)
class Missing:
    """Why a source cannot provide the system."""

    reason: str
    """Searched names and places, as part of a sentence."""
    command: str | None = None
    """A command that would make this source work, if there is one."""


def program_at(system: System, version: str | None, source: str, path: Path, detail: str) -> Program:
    """Return a program of this machine, with digest and size of its file; the pinned version if it reports none."""
    return Program(
        system.name,
        version or system.version,
        source,
        path=path,
        digest=sha256_of(path),
        detail=detail,
        size=path.stat().st_size,
    )


INSTALL_SECONDS = 7200.0
"""Time limit of a tool that downloads or builds a system: 2 GB at 300 kB/s."""


def watched(
    command: Sequence[str | Path],
    log: Path,
    environment: Mapping[str, str],
    step: Callable[[], str],
    request: Request,
    *,
    cwd: Path | None = None,
) -> int:
    """Run a tool in ``cwd``, or else in the folder of its log, and report its step each second; return its exit code.

    An interruption, or the limit of an installation, ends the tool with everything that it started.
    """
    started = time.monotonic()
    with log.open("wb") as output:
        with interrupt.held():
            process = subprocess.Popen(
                [str(part) for part in command],
                cwd=cwd or log.parent,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent(),  # noqa: PLW1509 - calls nothing but prctl
            )
        try:
            while process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=1.0)
                    break
                request.progress(f"{step()} ({time.monotonic() - started:.0f} s)")
                if time.monotonic() - started > INSTALL_SECONDS:
                    output.write(f"\nit did not end within {INSTALL_SECONDS:.0f} s\n".encode())
                    break
        finally:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return process.returncode


def last_lines(log: Path, number: int) -> list[str]:
    """Return the last lines of a log that are not empty."""
    with log.open(errors="replace") as file:
        return list(deque((line.strip() for line in file if line.strip()), maxlen=number))


def on_path(program: str, request: Request) -> Path | None:
    """Return the program that the request's PATH finds."""
    found = shutil.which(program, path=request.environment.get("PATH"))
    return Path(found).absolute() if found else None


def fill_once(
    folder: Path, whole: Callable[[], bool], fill: Callable[[Path], None], title: str, request: Request
) -> None:
    """Fill ``folder`` with ``fill``, unless another harness did so in the meantime.

    The content is created in a folder next to it, which is renamed at the end under a lock that the kernel releases
    when its holder dies. So an interruption leaves nothing that looks complete.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with lock(folder, title, request):
            if not whole():
                for left in folder.parent.glob(f".{folder.name}.building-*"):
                    shutil.rmtree(left, ignore_errors=True)
                new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.building-", dir=folder.parent))
                try:
                    fill(new)
                    new.chmod(0o755)
                    shutil.rmtree(folder, ignore_errors=True)
                    new.rename(folder)
                finally:
                    shutil.rmtree(new, ignore_errors=True)
    except OSError as error:
        raise Unavailable(
            f"{title} cannot be stored in the cache {folder}: {error.strerror or error}.",
            "Free space in that folder, make it writable, or name another one in BENCHBOOK_CACHE.",
        ) from error


@contextlib.contextmanager
def lock(folder: Path, title: str, request: Request) -> Iterator[None]:
    """Hold the lock of one pin; report progress while another harness holds it."""
    from filelock import FileLock, Timeout

    path = folder.parent / f".{folder.name}.lock"
    held, started = FileLock(path, mode=guarded.close_lock(path)), time.monotonic()
    while not held.is_locked:
        with contextlib.suppress(Timeout):
            held.acquire(timeout=1, poll_interval=0.1)
            break
        waited = time.monotonic() - started
        request.progress(f"waiting while another harness builds {title} ({waited:.0f} s)")
    try:
        yield
    finally:
        held.release()
