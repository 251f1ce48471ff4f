"""Go: a system built once from its official Go module, into a cache keyed by the pin."""

from __future__ import annotations

import hashlib
import json
import platform
import shlex
import shutil
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.errors import Unavailable
from benchbook.process.launch import Program, call
from benchbook.provision import host, recorded
from benchbook.provision.request import Missing, Request, fill_once, last_lines, watched

if TYPE_CHECKING:
    from benchbook.declare.system import System


def find(system: System, request: Request) -> Program | Missing | None:
    """Return the cached program; build it first if the cache lacks it.

    Raise Unavailable with the toolchain's message if the build fails or reports another version.
    """
    if system.source.go is None:
        return None
    wanted, folder = pin_of(system), folder_of(system, request)
    path = folder / wanted.program
    record = built(wanted, folder, system.title, request)
    if isinstance(record, Missing):
        return record
    version = host.version(system, path)
    if version is not None and not system.accepts(version):
        raise Unavailable(
            f"{system.title} built from {wanted.package} reports version {version}, not {system.version}.",
            f"Correct source.go in systems/{system.name}.toml (its ldflags set the version).",
        )
    detail = f"{wanted.command()}, with {record['toolchain']}"
    return Program(system.name, system.version, "go", path=path, digest=record["digest"], detail=detail)


def built(wanted: Pin, folder: Path, title: str, request: Request) -> dict[str, str] | Missing:
    """Return the record of a program in the cache: its ``digest`` and ``toolchain``; build it first if it is not there.

    Raise Unavailable with the toolchain's message if the build fails.
    """
    record = recorded.read(folder, asdict(wanted), wanted.program)
    if record is not None:
        return record
    compiler = toolchain(request)
    if compiler is None:
        return _no_toolchain(request, wanted)
    return _build(folder, wanted, compiler, title, request)


def preview(system: System, request: Request) -> str | Missing | None:
    """Describe the cached program, or what would be built."""
    if system.source.go is None:
        return None
    wanted, folder = pin_of(system), folder_of(system, request)
    if recorded.read(folder, asdict(wanted), wanted.program) is not None:
        return f"use {folder / wanted.program} (built from {wanted.package}@v{wanted.version})"
    if toolchain(request) is None:
        return _no_toolchain(request, wanted)
    return f"build it once, a few minutes: {wanted.command()}, into {folder}"


def folder_of(system: System, request: Request) -> Path:
    """Return the cache folder of this pin's program."""
    return request.cache_folder() / "systems" / f"{system.name}-{pin_of(system).key()}"


def toolchain(request: Request) -> Path | None:
    """Return the Go that builds, if there is one."""
    found = shutil.which(str(request.go or "go"), path=request.environment.get("PATH"))
    return Path(found).absolute() if found else None


def _no_toolchain(request: Request, wanted: Pin) -> Missing:
    where = f"{request.go} is not executable" if request.go else "no go command on PATH"
    return Missing(
        f"go: not in the cache {request.cache_folder()}, and {where} to build it", wanted.command()
    )


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
    ldflags = source.ldflags.replace("{version}", system.version)
    return Pin(source.package, system.version, ldflags, sys.platform, architecture(), source.program)


def architecture() -> str:
    """Return this machine's architecture by its name in Go, which registries of images use too."""
    machine = platform.machine().lower()
    return {"x86_64": "amd64", "aarch64": "arm64", "i686": "386", "armv7l": "arm"}.get(machine, machine)


def _build(folder: Path, wanted: Pin, toolchain: Path, title: str, request: Request) -> dict[str, str]:
    """Build ``wanted`` into ``folder`` and return its record; use another harness's build if there is one.

    An interrupted build leaves nothing that looks like a program.
    """

    def fill(new: Path) -> None:
        _install(new, wanted, toolchain, title, request)
        recorded.write(new, asdict(wanted), wanted.program, _toolchain_version(toolchain))

    fill_once(
        folder,
        lambda: recorded.read(folder, asdict(wanted), wanted.program) is not None,
        fill,
        title,
        request,
    )
    record = recorded.read(folder, asdict(wanted), wanted.program)
    if record is None:
        raise Unavailable(
            f"{folder} no longer contains the program that was just built there.",
            "Check whether another program deletes files of the cache, then run again.",
        )
    return record


def _install(new: Path, wanted: Pin, toolchain: Path, title: str, request: Request) -> None:
    """Run ``go install`` with its result in ``new``; raise Unavailable with the end of its log if it fails."""
    command = [
        str(toolchain), "install", "-v", "-trimpath", "-ldflags", wanted.ldflags,
        f"{wanted.package}@v{wanted.version}",
    ]  # fmt: skip
    request.progress(f"building {title} once from its Go module")
    log, started = new / "build.log", time.monotonic()
    settings = {**environment(request), "GOBIN": str(new)}
    code = watched(command, log, settings, lambda: f"building {title}: {_step(log)}", request)
    if code != 0 or not (new / wanted.program).is_file():
        reason = " | ".join(last_lines(log, 6)) or f"go exited with code {code}"
        raise Unavailable(
            f"{title} could not be built from its Go module: {reason}.",
            f"See the cause with: {wanted.command()}",
        )
    log.unlink()
    request.progress(f"built {title} in {time.monotonic() - started:.0f} s")


def environment(request: Request) -> dict[str, str]:
    """Return the environment of a build: the settings of its caches, and none that changes its result."""
    dropped = ("GOOS", "GOARCH", "GOFLAGS", "GOEXPERIMENT", "GOAMD64", "GOARM64", "GOWORK")
    kept = {name: value for name, value in request.environment.items() if name not in dropped}
    # Only the installed toolchain builds; Go must not download another one.
    return kept | {"CGO_ENABLED": "0", "GO111MODULE": "on", "GOTOOLCHAIN": "local", "GOWORK": "off"}


def _step(log: Path) -> str:
    """Describe the progress: ``go install -v`` writes a line per download and per compiled package."""
    lines = last_lines(log, 100_000)
    compiled = sum(1 for line in lines if not line.startswith("go: "))
    return f"{compiled} packages compiled" if compiled else "downloading modules"


def _toolchain_version(toolchain: Path) -> str:
    return call([toolchain, "env", "GOVERSION"], cwd="/").stdout.strip() or "an unknown Go"
