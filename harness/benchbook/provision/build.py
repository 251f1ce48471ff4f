"""Build a Go program into a folder of the cache: once, whole or not at all, with words while it lasts."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections import deque
from pathlib import Path

from benchbook.errors import Unavailable
from benchbook.provision import once, pin
from benchbook.provision.pin import Pin
from benchbook.provision.request import Request
from benchbook.systems.process import die_with_parent


def into(folder: Path, wanted: Pin, toolchain: Path, title: str, request: Request) -> dict[str, str]:
    """Build ``wanted`` into ``folder`` and return its record; use what another harness built in the meantime.

    An interrupted build leaves nothing that could be taken for a program.
    """

    def fill(new: Path) -> None:
        _install(new, wanted, toolchain, title, request)
        pin.write(new, wanted, _toolchain_words(toolchain))

    once.into(folder, lambda: pin.read(folder, wanted) is not None, fill, title, request)
    record = pin.read(folder, wanted)
    if record is None:
        raise Unavailable(
            f"{folder} does not hold what was just built.", "See whether something clears the cache."
        )
    return record


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
