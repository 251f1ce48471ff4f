"""Build the client of an experiment: a Go module in ``experiments/<slug>/client``, based on benchload as a library.

It is built once into the cache, under the digest of its sources and of benchload's. Its ``go.mod`` names benchload's
sources in a ``replace`` line, or else they are those of this Benchbook. It writes the events of
docs/benchload-events.md, as benchload does, so the harness starts and reads both in the same way.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

from benchbook.declare.checkout import built_in, experiments
from benchbook.errors import Unavailable
from benchbook.process import spawn
from benchbook.provision import go
from benchbook.provision.request import Request, fill_once, last_lines, watched

_REPLACED = re.compile(r"^(?:replace)?\s*benchbook/benchload\s.*=>", re.MULTILINE)
_GO_VERSION = re.compile(r"^go\s+(\S+)", re.MULTILINE)
PROGRAM = "client"
"""Name of the program in its cache folder."""


def find(experiment: str, request: Request) -> Path:
    """Return the program that loads and measures for an experiment: its own client if it has one, else benchload.

    A client in Go is benchload with more commands, so it does all that benchload does.
    """
    own = experiments().get(experiment)
    if own is None or not (own / "client" / "go.mod").is_file():
        return spawn.find_benchload()
    return client(own / "client", source(), request)


def source() -> Path:
    """Return the folder of benchload's Go module; raise Unavailable if it is not installed."""
    folder = built_in() / "harness" / "benchload"
    if not (folder / "go.mod").is_file():
        raise Unavailable(
            f"The sources of benchload are not in {folder}.",
            "Install Benchbook from its wheel, or use the ./bench of a clone.",
        )
    return folder


def client(folder: Path, benchload: Path, request: Request) -> Path:
    """Return the program of the Go module in ``folder``; build it if the cache lacks it.

    ``benchload`` is the folder of benchload's module.
    Raise Unavailable with the toolchain's message if it cannot be built.
    """
    title = f"the client {folder.parent.name}"
    built = request.cache_folder() / "clients" / f"{folder.parent.name}-{key(folder, benchload)}"
    if not (built / PROGRAM).is_file():
        toolchain = go.toolchain(request)
        if toolchain is None:
            raise Unavailable(
                f"{title} is not in the cache, and there is no go command on PATH to build it from {folder}.",
                "Put Go on PATH, or start Benchbook with ./bench, which fetches one.",
            )
        fill_once(
            built,
            (built / PROGRAM).is_file,
            lambda new: _build(new, folder, benchload, toolchain, title, request),
            title,
            request,
        )
    return built / PROGRAM


def key(*folders: Path) -> str:
    """Return the cache key of a program: a digest of the sources of its modules and of the machine's type."""
    digest = hashlib.sha256(f"{sys.platform} {go.architecture()}".encode())
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.name in ("go.mod", "go.sum") or (
                path.suffix == ".go" and not path.stem.endswith("_test")
            ):
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(f"{path.relative_to(folder)} {content}\n".encode())
    return digest.hexdigest()[:16]


def _build(new: Path, folder: Path, benchload: Path, toolchain: Path, title: str, request: Request) -> None:
    """Run ``go build`` with its result in ``new``; raise Unavailable with the end of its log if it fails."""
    log = new / "build.log"
    # Neither the folder nor the commit is in the program, so that all machines of a cluster build the same one.
    flags = ("-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", "-s -w")
    command: list[str | Path] = [toolchain, "-C", folder, "build", *flags, "-o", new / PROGRAM, "."]
    request.progress(f"building {title} once from {folder}")
    environment, by_hand = go.environment(request), f"go -C {folder} build"
    if not _REPLACED.search((folder / "go.mod").read_text(encoding="utf-8")):
        workspace = new / "go.work"
        version = _GO_VERSION.search((benchload / "go.mod").read_text(encoding="utf-8"))
        used = "".join(f"use {json.dumps(str(module.resolve()))}\n" for module in (folder, benchload))
        workspace.write_text(f"go {version[1] if version else '1.25'}\n{used}", encoding="utf-8")
        environment["GOWORK"] = str(workspace)
        by_hand = f"cd {folder} && go work init . {benchload} && go build"
    code = watched(command, log, environment, lambda: f"building {title}", request)
    if code != 0 or not (new / PROGRAM).is_file():
        reason = " | ".join(last_lines(log, 6)) or f"go exited with code {code}"
        raise Unavailable(
            f"{title} could not be built from {folder}: {reason}.",
            f"See the cause with: {by_hand}",
        )
    log.unlink()
