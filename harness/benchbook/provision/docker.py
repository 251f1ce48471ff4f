"""Docker: run a system from its image, by digest, or by a tag whose first pull is locked."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from benchbook.declare.catalogue import root
from benchbook.declare.system import ContainerSource, DockerSource
from benchbook.declare.toml import check
from benchbook.errors import RequestError, Unavailable
from benchbook.process.containers import NoEngine, connect
from benchbook.process.launch import ContainerOptions, Program
from benchbook.provision.request import Missing, Request
from benchbook.record.folder import write_json
from benchbook.systems import driver

if TYPE_CHECKING:
    from docker import DockerClient

    from benchbook.declare.system import System


# The lock of images: tag -> digest of its first pull. A tag that moves later is refused, not followed.

FILE = "images.lock.json"


def file(request: Request) -> Path:
    """Return the lock's file: beside the systems, to be committed with them; in the cache where that is read-only."""
    if request.image_lock is not None:
        return request.image_lock
    beside = root() / "systems"
    if os.access(beside, os.W_OK):
        return beside / FILE
    return request.cache_folder() / FILE


def locked(lock: Path, tag: str) -> str | None:
    """Return the digest that a tag is locked to, or None before its first pull."""
    return _read(lock).get(tag)


def add(lock: Path, tag: str, digest: str) -> None:
    """Lock a tag to the digest of its first pull."""
    write_json(lock, dict(sorted({**_read(lock), tag: digest}.items())))


def _read(lock: Path) -> dict[str, str]:
    try:
        found = json.loads(lock.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RequestError(
            f"{lock} cannot be read: {error}.", "Restore it from git, or remove it to lock anew."
        ) from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise RequestError(f"{lock} must map tags to digests.", "Restore it from git, or remove it.")
    return found


# Get an image: from this machine or its registry, always the one that its digest or the lock names.


@dataclass(frozen=True)
class Image:
    """An image that is on this machine."""

    identity: str
    """What a container is made from: the digest of the image's configuration."""
    digest: str
    """The digest that its registry knows it by; the identity, for an image that was built here."""


def ensure(engine: DockerClient, reference: str, lock: Path, progress: Callable[[str], None]) -> Image:
    """Return the image, pulled where it is not here yet; raise Unavailable in words where it cannot be had.

    A reference with a digest is that image. A tag is the image of its first pull, which the lock keeps. An image
    that was built on this machine has no registry's digest and is locked to nothing: its identity stands with
    every result.
    """
    name, _, digest = reference.partition("@")
    tag = name if ":" in name.rpartition("/")[2] else f"{name}:latest"
    wanted = digest or locked(lock, tag)
    repository = tag.rpartition(":")[0]
    exact = f"{repository}@{wanted}" if wanted else tag
    found = _here(engine, exact) or _pull(engine, exact, progress)
    known = _digest(found, repository)
    if wanted is None and known is not None:
        add(lock, tag, known)
        progress(f"{tag} is {known} from now on ({lock})")
    return Image(str(found.id), wanted or known or str(found.id))


def _here(engine: DockerClient, reference: str) -> Any:
    import docker

    try:
        return engine.images.get(reference)
    except docker.errors.ImageNotFound:
        return None


def _pull(engine: DockerClient, reference: str, progress: Callable[[str], None]) -> Any:
    import docker

    progress(f"pulling {reference}")
    told = started = time.monotonic()
    try:
        for step in engine.api.pull(reference, stream=True, decode=True):
            if "error" in step:
                raise _refused(reference, str(step["error"]))
            if time.monotonic() - told >= 1:
                told = time.monotonic()
                progress(f"pulling {reference}: {step.get('status', '')} ({told - started:.0f} s)")
        return engine.images.get(reference)
    except docker.errors.DockerException as error:
        raise _refused(reference, str(getattr(error, "explanation", None) or error)) from error


def _refused(reference: str, words: str) -> Unavailable:
    hint = f"See the cause with: docker pull {reference}"
    if "@" in reference:
        hint += f"  (a tag that was locked to it stands in {FILE})"
    return Unavailable(f"the image {reference} cannot be pulled: {words.strip().rstrip('.')}.", hint)


def _digest(found: Any, repository: str) -> str | None:
    """Return the digest under which a registry knows the image, that of this repository where there are more."""
    known = [str(one).partition("@") for one in found.attrs.get("RepoDigests") or []]
    ours = [digest for name, _, digest in known if name == repository]
    return next(iter(ours), None)


# Docker: a system run from its image, by digest, or by a tag whose first pull is locked.

SCHEME = "docker://"
"""``--system NAME=docker://IMAGE`` names an image; options follow as ``?network=private&memory=2GiB``."""


def find(system: System, request: Request) -> Program | Missing | None:
    """Return the declared image, pulled where it is not here yet, or say why it cannot be run."""
    source = system.source.docker
    if source is None:
        return None
    if missing := _not_run(system, source):
        return missing
    engine = connect(request.environment)
    if isinstance(engine, NoEngine):
        return _no_engine(engine, source)
    try:
        found = ensure(engine, _reference(source), file(request), request.progress)
    except Unavailable as reason:
        return Missing(f"docker: {reason.message.rstrip('.')}", reason.hint)
    finally:
        engine.close()
    assert source.program is not None
    return _program(system, "docker", _reference(source), found, source.program, source)


def preview(system: System, request: Request) -> str | Missing | None:
    """Say which image would be run; nothing is pulled."""
    source = system.source.docker
    if source is None:
        return None
    if missing := _not_run(system, source):
        return missing
    engine = connect(request.environment)
    if isinstance(engine, NoEngine):
        return _no_engine(engine, source)
    engine.close()
    return f"run {_reference(source)} in a container, pulled first where it is not here yet"


def _reference(source: DockerSource) -> str:
    return f"{source.image}@{source.digest}" if source.digest else source.image


def _not_run(system: System, source: DockerSource) -> Missing | None:
    """Say why a declared image is not run, whatever engine there is."""
    if source.program is None:
        return Missing(
            f"docker: source.docker in systems/{system.name}.toml names no program of {source.image}"
        )
    if not driver.runs_in_containers(system.driver):
        return Missing(f"docker: the driver {system.driver} does not run in containers yet")
    return None


def _no_engine(engine: NoEngine, source: DockerSource) -> Missing:
    return Missing(
        f"docker: {engine.reason}", f"{engine.command}  # then the image {_reference(source)} is pulled"
    )


def given(system: System, flag: str, value: str, request: Request) -> Program:
    """Return the image that ``--system NAME=docker://IMAGE`` names; raise RequestError where it cannot be run."""
    reference, _, query = value.removeprefix(SCHEME).partition("?")
    options = check(dict(parse_qsl(query)), ContainerSource, flag)
    if not driver.runs_in_containers(system.driver):
        raise RequestError(
            f"{flag}: the driver {system.driver} does not run in containers yet.",
            "Give the path of the program, or a URL.",
        )
    source = system.source
    named = (source.docker, source.host, source.nix, source.go)
    program = next((one.program for one in named if one is not None and one.program), None)
    if program is None:
        raise RequestError(
            f"{flag}: no source in systems/{system.name}.toml names a program to start.",
            "Add source.docker.program.",
        )
    engine = connect(request.environment)
    if isinstance(engine, NoEngine):
        raise Unavailable(f"{flag}: {engine.reason}.", f"Get one with: {engine.command}")
    try:
        found = ensure(engine, reference, file(request), request.progress)
    finally:
        engine.close()
    return _program(system, "given", reference, found, program, options)


def _program(
    system: System, source: str, reference: str, found: Image, program: str, declared: ContainerSource
) -> Program:
    options = ContainerOptions(
        declared.network, declared.cpus, declared.cores, declared.memory_bytes(), declared.user
    )
    return Program(
        system.name,
        system.version,
        source,
        path=Path(program),
        digest=found.digest,
        detail=f"image {reference}, in a container, {options.description()}",
        image=found.identity,
        container=options,
    )
