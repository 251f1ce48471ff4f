"""Docker: a system run from its image, by digest, or by a tag whose first pull is locked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from benchbook.declare.system import ContainerSource, DockerSource
from benchbook.declare.toml import check
from benchbook.errors import RequestError, Unavailable
from benchbook.provision import image, image_lock
from benchbook.provision.request import Missing, Request
from benchbook.systems import lookup
from benchbook.systems.docker_engine import NoEngine, connect
from benchbook.systems.program import ContainerOptions, Program

if TYPE_CHECKING:
    from benchbook.declare.system import System

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
        found = image.ensure(engine, _reference(source), image_lock.file(request), request.progress)
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
    if not lookup.in_containers(system.driver):
        return Missing(f"docker: the driver {system.driver} does not run in containers yet")
    return None


def _no_engine(engine: NoEngine, source: DockerSource) -> Missing:
    return Missing(
        f"docker: {engine.words}", f"{engine.command}  # then the image {_reference(source)} is pulled"
    )


def given(system: System, flag: str, value: str, request: Request) -> Program:
    """Return the image that ``--system NAME=docker://IMAGE`` names; raise RequestError where it cannot be run."""
    reference, _, query = value.removeprefix(SCHEME).partition("?")
    options = check(dict(parse_qsl(query)), ContainerSource, flag)
    if not lookup.in_containers(system.driver):
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
        raise Unavailable(f"{flag}: {engine.words}.", f"Get one with: {engine.command}")
    try:
        found = image.ensure(engine, reference, image_lock.file(request), request.progress)
    finally:
        engine.close()
    return _program(system, "given", reference, found, program, options)


def _program(
    system: System, source: str, reference: str, found: image.Image, program: str, declared: ContainerSource
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
        detail=f"image {reference}, in a container, {options.words()}",
        image=found.identity,
        container=options,
    )
