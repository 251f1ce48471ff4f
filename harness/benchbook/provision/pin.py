"""What decides the bytes of a built program, and the record that stands beside it in the cache."""

from __future__ import annotations

import hashlib
import json
import platform
import shlex
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.provision import digest

if TYPE_CHECKING:
    from benchbook.declare.system import System

FILE = "pin.json"
"""Beside the program: its pin, its digest and the toolchain that built it."""


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
        """Return the first 16 hexadecimal digits of the pin's sha256."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    def command(self) -> str:
        """Return the command that a person would type for the same program."""
        what = f"{self.package}@v{self.version}"
        return f"CGO_ENABLED=0 go install -trimpath -ldflags {shlex.quote(self.ldflags)} {what}"


def of(system: System) -> Pin:
    """Return the pin of a system that has a Go source, for this machine."""
    source = system.source.go
    assert source is not None
    machine = platform.machine().lower()
    goarch = {"x86_64": "amd64", "aarch64": "arm64", "i686": "386", "armv7l": "arm"}.get(machine, machine)
    ldflags = source.ldflags.replace("{version}", system.version)
    return Pin(source.package, system.version, ldflags, sys.platform, goarch, source.program)


def write(folder: Path, pin: Pin, toolchain: str) -> None:
    """Write the record of a program that was just built into ``folder``."""
    record = {"pin": asdict(pin), "digest": digest.of(folder / pin.program), "toolchain": toolchain}
    (folder / FILE).write_text(json.dumps(record, indent=1) + "\n")


def read(folder: Path, pin: Pin) -> dict[str, str] | None:
    """Return ``digest`` and ``toolchain`` when ``folder`` holds the very bytes that were built, else None."""
    try:
        record = json.loads((folder / FILE).read_text())
        if record["pin"] == asdict(pin) and record["digest"] == digest.of(folder / pin.program):
            return {"digest": str(record["digest"]), "toolchain": str(record["toolchain"])}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None
