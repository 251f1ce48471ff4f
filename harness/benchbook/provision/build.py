"""Build a Go program into a folder of the cache: once, whole or not at all, with words while it lasts."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from benchbook.errors import Unavailable
from benchbook.provision import pin
from benchbook.provision.pin import Pin
from benchbook.provision.request import Request
from benchbook.systems.process import die_with_parent


def into(folder: Path, wanted: Pin, toolchain: Path, title: str, request: Request) -> dict[str, str]:
    """Build ``wanted`` into ``folder`` and return its record; use what another harness built in the meantime.

    The build happens in a folder beside it, renamed at the end, under a lock that the kernel frees when its
    holder dies; so an interrupted build leaves nothing that could be taken for a program.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _lock(folder, title, request):
            record = pin.read(folder, wanted)
            if record is None:
                for left in folder.parent.glob(f".{folder.name}.building-*"):
                    shutil.rmtree(left, ignore_errors=True)
                new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.building-", dir=folder.parent))
                try:
                    _install(new, wanted, toolchain, title, request)
                    pin.write(new, wanted, _toolchain_words(toolchain))
                    new.chmod(0o755)
                    shutil.rmtree(folder, ignore_errors=True)
                    new.rename(folder)
                finally:
                    shutil.rmtree(new, ignore_errors=True)
                record = pin.read(folder, wanted)
    except OSError as error:
        raise Unavailable(
            f"{title} cannot be built into the cache {folder}: {error.strerror or error}.",
            "Free or make writable that folder, or name another one in BENCHBOOK_CACHE.",
        ) from error
    if record is None:
        raise Unavailable(
            f"{folder} does not hold what was just built.", "See whether something clears the cache."
        )
    return record


@contextlib.contextmanager
def _lock(folder: Path, title: str, request: Request) -> Iterator[None]:
    """Hold the lock of one pin, waiting with words while another harness builds it."""
    with (folder.parent / f".{folder.name}.lock").open("a") as file:
        started = told = time.monotonic()
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() - told >= 1:
                    told = time.monotonic()
                    request.progress(f"waiting while another harness builds {title} ({told - started:.0f} s)")
                time.sleep(0.1)
        yield


def _install(new: Path, wanted: Pin, toolchain: Path, title: str, request: Request) -> None:
    """Run ``go install`` with its result in ``new``; raise Unavailable with its last words when it fails."""
    command = [
        str(toolchain),
        "install",
        "-v",
        "-trimpath",
        "-ldflags",
        wanted.ldflags,
        f"{wanted.package}@v{wanted.version}",
    ]
    dropped = ("GOOS", "GOARCH", "GOFLAGS", "GOEXPERIMENT", "GOAMD64", "GOARM64", "GOWORK")
    environment = {name: value for name, value in request.environment.items() if name not in dropped}
    # The toolchain at hand builds it: another one is never fetched behind the user's back.
    environment |= {
        "CGO_ENABLED": "0",
        "GOBIN": str(new),
        "GO111MODULE": "on",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    request.progress(f"building {title} once from its Go module")
    log = new / "build.log"
    started = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=new,
            env=environment,
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
                request.progress(f"building {title}: {_step(log)} ({time.monotonic() - started:.0f} s)")
        finally:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    if process.returncode != 0 or not (new / wanted.program).is_file():
        words = " | ".join(_lines(log, 6)) or f"go exited with code {process.returncode}"
        raise Unavailable(
            f"{title} could not be built from its Go module: {words}.",
            f"See the cause with: {wanted.command()}",
        )
    log.unlink()
    request.progress(f"built {title} in {time.monotonic() - started:.0f} s")


def _step(log: Path) -> str:
    """Say how far the build is: ``go install -v`` writes a line a download and a line a compiled package."""
    lines = _lines(log, 100_000)
    compiled = sum(1 for line in lines if not line.startswith("go: "))
    return f"{compiled} packages compiled" if compiled else "downloading modules"


def _lines(log: Path, last: int) -> list[str]:
    with log.open(errors="replace") as file:
        return list(deque((line.strip() for line in file if line.strip()), maxlen=last))


def _toolchain_words(toolchain: Path) -> str:
    ran = subprocess.run(
        [str(toolchain), "env", "GOVERSION"], check=False, capture_output=True, text=True, cwd="/"
    )
    return ran.stdout.strip() or "an unknown Go"
