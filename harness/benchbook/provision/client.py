"""Build the client of an experiment: a Go module in ``experiments/<slug>/client``, based on benchload as a library.

It is built once into the cache, under the digest of its sources and of benchload's. It writes the events of
docs/benchload-events.md, as benchload does, so the harness starts and reads both in the same way.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from benchbook.declare.checkout import built_in, experiments
from benchbook.errors import Unavailable
from benchbook.process import spawn
from benchbook.provision import go
from benchbook.provision.request import Request, fill_once, last_lines, watched

PROGRAM = "client"
"""Name of the program in its cache folder."""


def find(experiment: str, request: Request) -> Path:
    """Return the program that loads and measures for an experiment: its own client if it has one, else benchload.

    A client in Go is benchload with more commands, so it does all that benchload does.
    """
    own = experiments().get(experiment)
    if own is None or not (own / "client" / "go.mod").is_file():
        return spawn.find_benchload()
    benchload = built_in() / "harness" / "benchload"
    if not benchload.is_dir():
        raise Unavailable(
            f"{experiment} has a client in Go, which is built on the sources of benchload; an installed Benchbook has"
            " only the program.",
            "Run it in a clone of Benchbook, or with the ./bench of one.",
        )
    return client(own / "client", benchload, request)


def client(folder: Path, benchload: Path, request: Request) -> Path:
    """Return the program of the Go module in ``folder``; build it if the cache lacks it.

    ``benchload`` is the folder of benchload's module, which ``go.mod`` in ``folder`` names in a ``replace`` line.
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
            lambda new: _build(new, folder, toolchain, title, request),
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


def _build(new: Path, folder: Path, toolchain: Path, title: str, request: Request) -> None:
    """Run ``go build`` with its result in ``new``; raise Unavailable with the end of its log if it fails."""
    log = new / "build.log"
    # Neither the folder nor the commit is in the program, so that all machines of a cluster build the same one.
    flags = ("-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", "-s -w")
    command: list[str | Path] = [toolchain, "-C", folder, "build", *flags, "-o", new / PROGRAM, "."]
    request.progress(f"building {title} once from {folder}")
    code = watched(command, log, go.environment(request), lambda: f"building {title}", request)
    if code != 0 or not (new / PROGRAM).is_file():
        reason = " | ".join(last_lines(log, 6)) or f"go exited with code {code}"
        raise Unavailable(
            f"{title} could not be built from {folder}: {reason}.",
            f"See the cause with: go -C {folder} build",
        )
    log.unlink()
