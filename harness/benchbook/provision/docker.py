"""Docker: run a system from its image, by digest, or by a tag whose first pull is locked."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from benchbook.declare.program_origin import IMAGE
from benchbook.declare.system import ContainerSource
from benchbook.declare.toml import check
from benchbook.errors import RequestError, Unavailable
from benchbook.host import extras
from benchbook.process.containers import NoEngine, connect
from benchbook.process.launch import ContainerOptions, Program
from benchbook.provision import image, image_lock
from benchbook.provision.request import Missing, Request
from benchbook.systems import driver

if TYPE_CHECKING:
    from docker import DockerClient

    from benchbook.declare.system import System


@dataclass(frozen=True)
class Image:
    """An image on this machine."""

    identity: str
    """Id of the image, from which containers are created."""
    digest: str
    """The registry's digest; the id for an image that was built here."""


def ensure_image(
    engine: DockerClient, reference: str, lock: image_lock.Lock | None, progress: Callable[[str], None]
) -> Image:
    """Return the image, pulled if it is not here yet; raise Unavailable if that fails.

    A reference with a digest names that image. A tag means the image of its first pull, which the lock stores; without
    a lock, for an image of the user, it means the image that it names now. An
    image that was built on this machine has no registry digest and is not locked; its id is stored with every result.
    """
    tag, wanted = image_lock.tag_of(reference), reference.partition("@")[2]
    if lock is not None:
        wanted = lock.wanted(reference) or ""
    repository = tag.rpartition(":")[0]
    exact = f"{repository}@{wanted}" if wanted else tag
    found = _here(engine, exact) or _pull(engine, exact, progress)
    known = _digest(found, repository)
    if lock is not None and not wanted and known is not None:
        lock.add(tag, known, image_lock.FIRST_PULL)
        progress(f"{tag} is now locked to {known} ({lock.written})")
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
    last = started = time.monotonic()
    try:
        for step in engine.api.pull(reference, stream=True, decode=True):
            if "error" in step:
                raise _refused(reference, str(step["error"]))
            if time.monotonic() - last >= 1:
                last = time.monotonic()
                progress(f"pulling {reference}: {step.get('status', '')} ({last - started:.0f} s)")
        return engine.images.get(reference)
    except docker.errors.DockerException as error:
        raise _refused(reference, str(getattr(error, "explanation", None) or error)) from error


def _refused(reference: str, reason: str) -> Unavailable:
    hint = f"See the cause with: docker pull {reference}"
    if "@" in reference:
        hint += f"  ({image_lock.FILE} has the tag that is locked to it)"
    return Unavailable(f"the image {reference} cannot be pulled: {reason.strip().rstrip('.')}.", hint)


def _digest(found: Any, repository: str) -> str | None:
    """Return the registry's digest of the image for this repository."""
    known = [str(one).partition("@") for one in found.attrs.get("RepoDigests") or []]
    ours = [digest for name, _, digest in known if name == repository]
    return next(iter(ours), None)


SCHEME = "docker://"
"""Prefix of ``--system NAME=docker://IMAGE``; options follow as ``?network=private&memory=2GiB``."""


def find(system: System, request: Request) -> Program | Missing | None:
    """Return the declared image, pulled if it is not here yet, or why it cannot run."""
    source = system.source.docker
    if source is None:
        return None
    if missing := image.not_run(system, source, "docker"):
        return missing
    engine = connect(request.environment)
    if isinstance(engine, NoEngine):
        return _without(engine)
    try:
        found = ensure_image(engine, source.reference, image_lock.of(request), request.progress)
    except Unavailable as reason:
        return Missing(f"docker: {reason.message.rstrip('.')}", reason.hint)
    finally:
        engine.close()
    assert source.program is not None
    return _program(system, "docker", source.reference, found, source.program, source)


def preview(system: System, request: Request) -> str | Missing | None:
    """Return which image would run; pull nothing."""
    source = system.source.docker
    if source is None:
        return None
    if missing := image.not_run(system, source, "docker"):
        return missing
    engine = connect(request.environment)
    if isinstance(engine, NoEngine):
        return _without(engine)
    engine.close()
    return f"run {source.reference} in a container, pulled first if it is not here yet"


def _without(engine: NoEngine) -> Missing:
    """Return why a system does not come from an engine; of what to do only a package, because a user may lack root."""
    return Missing(f"docker: {engine.reason}", engine.command if extras.missing(["docker"]) else None)


def given(flag: str, value: str) -> tuple[str, ContainerSource]:
    """Return image and options of ``docker://IMAGE?…``; raise RequestError if one of them is invalid."""
    reference, _, query = value.removeprefix(SCHEME).partition("?")
    if not IMAGE.fullmatch(reference):
        raise RequestError(
            f"{flag}: {reference!r} is not the name of an image.",
            "Write it as docker://IMAGE:TAG or docker://HOST/IMAGE@sha256:DIGEST.",
        )
    pairs = parse_qsl(query, keep_blank_values=True)
    if twice := [name for name, _ in pairs if [one for one, _ in pairs].count(name) > 1]:
        raise RequestError(f"{flag}: the option {twice[0]} is given twice.", "Give it once.")
    return reference, check(dict(pairs), ContainerSource, flag)


def user_supplied(system: System, flag: str, value: str, request: Request) -> Program:
    """Return the image that ``--system NAME=docker://IMAGE`` names; raise RequestError if it cannot run."""
    reference, options = given(flag, value)
    if not driver.runs_from_images(system.driver):
        raise RequestError(
            f"{flag}: the driver {system.driver} does not run from images yet.",
            "Give the path of the program, or a URL.",
        )
    source = system.source
    sources = (source.docker, source.host, source.nix, source.go)
    program = next((one.program for one in sources if one is not None and one.program), None)
    if program is None:
        raise RequestError(
            f"{flag}: systems/{system.name}.toml does not say which program to start in a container.",
            "Add the key program to source.docker there.",
        )
    engine = connect(request.environment)
    if isinstance(engine, NoEngine) or not driver.runs_in_containers(system.driver):
        return image.user_supplied(system, flag, reference, program, options, request)
    try:
        found = ensure_image(engine, reference, None, request.progress)
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
