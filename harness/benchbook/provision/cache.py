"""A cache folder for each pinned program, filled once, completely or not at all; and the build of Go programs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import Unavailable
from benchbook.process.spawn import die_with_parent
from benchbook.provision.request import Request

if TYPE_CHECKING:
    from benchbook.declare.system import System


def sha256_of(file: Path) -> str:
    """Return ``sha256:<hex>`` of a file's bytes."""
    with file.open("rb") as content:
        return f"sha256:{hashlib.file_digest(content, 'sha256').hexdigest()}"


def fill_once(
    folder: Path,
    whole: Callable[[], bool],
    fill: Callable[[Path], None],
    title: str,
    request: Request,
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

    held, started = FileLock(folder.parent / f".{folder.name}.lock"), time.monotonic()
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


FILE = "pin.json"
"""File next to the program with its pin, its digest and the toolchain that built it."""


@dataclass(frozen=True)
class Pin:
    """A Go main package at one version, for one machine; the key of the cache."""

    package: str
    version: str
    ldflags: str
    goos: str
    goarch: str
    program: str

    def key(self) -> str:
        """Return the cache key: the first 16 hexadecimal digits of the pin's SHA-256."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    def command(self) -> str:
        """Return the command that installs the same program by hand."""
        what = f"{self.package}@v{self.version}"
        return f"CGO_ENABLED=0 go install -trimpath -ldflags {shlex.quote(self.ldflags)} {what}"


def pin_of(system: System) -> Pin:
    """Return the pin of a system with a Go source, for this machine."""
    source = system.source.go
    assert source is not None
    machine = platform.machine().lower()
    goarch = {"x86_64": "amd64", "aarch64": "arm64", "i686": "386", "armv7l": "arm"}.get(machine, machine)
    ldflags = source.ldflags.replace("{version}", system.version)
    return Pin(source.package, system.version, ldflags, sys.platform, goarch, source.program)


def write(folder: Path, pin: Pin, toolchain: str) -> None:
    """Write the record of a new program in ``folder``."""
    record = {"pin": asdict(pin), "digest": sha256_of(folder / pin.program), "toolchain": toolchain}
    (folder / FILE).write_text(json.dumps(record, indent=1) + "\n")


def read(folder: Path, pin: Pin) -> dict[str, str] | None:
    """Return ``digest`` and ``toolchain`` if ``folder`` holds exactly the bytes that were built, else None."""
    try:
        record = json.loads((folder / FILE).read_text())
        if record["pin"] == asdict(pin) and record["digest"] == sha256_of(folder / pin.program):
            return {"digest": str(record["digest"]), "toolchain": str(record["toolchain"])}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def build(folder: Path, wanted: Pin, toolchain: Path, title: str, request: Request) -> dict[str, str]:
    """Build ``wanted`` into ``folder`` and return its record; use another harness's build if there is one.

    An interrupted build leaves nothing that looks like a program.
    """

    def fill(new: Path) -> None:
        _install(new, wanted, toolchain, title, request)
        write(new, wanted, _toolchain_version(toolchain))

    fill_once(folder, lambda: read(folder, wanted) is not None, fill, title, request)
    record = read(folder, wanted)
    if record is None:
        raise Unavailable(
            f"{folder} lost the program after its build.", "Check whether something clears the cache."
        )
    return record


def _install(new: Path, wanted: Pin, toolchain: Path, title: str, request: Request) -> None:
    """Run ``go install`` with its result in ``new``; raise Unavailable with the end of its log if it fails."""
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
    # Only the installed toolchain builds; Go must not download another one.
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
        reason = " | ".join(_lines(log, 6)) or f"go exited with code {process.returncode}"
        raise Unavailable(
            f"{title} could not be built from its Go module: {reason}.",
            f"See the cause with: {wanted.command()}",
        )
    log.unlink()
    request.progress(f"built {title} in {time.monotonic() - started:.0f} s")


def _step(log: Path) -> str:
    """Describe the progress: ``go install -v`` writes a line per download and per compiled package."""
    lines = _lines(log, 100_000)
    compiled = sum(1 for line in lines if not line.startswith("go: "))
    return f"{compiled} packages compiled" if compiled else "downloading modules"


def _lines(log: Path, last: int) -> list[str]:
    with log.open(errors="replace") as file:
        return list(deque((line.strip() for line in file if line.strip()), maxlen=last))


def _toolchain_version(toolchain: Path) -> str:
    ran = subprocess.run(
        [str(toolchain), "env", "GOVERSION"], check=False, capture_output=True, text=True, cwd="/"
    )
    return ran.stdout.strip() or "an unknown Go"
