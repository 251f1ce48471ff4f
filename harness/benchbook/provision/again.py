"""Where a rerun gets the programs that a run took from paths of its machine.

Whoever repeats the run has no file at such a path. The image that the run states as the origin comes first, then the
declared image of the same version, then another declared source. Only names and digests are compared here; nothing is
fetched or started.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

from benchbook.declare import program_origin
from benchbook.declare.names import NAME_RULE, is_name, shown
from benchbook.declare.system import ContainerSource
from benchbook.errors import RequestError
from benchbook.provision import image, image_lock, user_supplied
from benchbook.provision.docker import SCHEME
from benchbook.provision.request import Request
from benchbook.record.rerun import given_to, made_by

if TYPE_CHECKING:
    from benchbook.declare.catalogue import Catalogue
    from benchbook.declare.system import System

By = Literal["itself", "user", "origin", "image", "source", "nothing"]


@dataclass(frozen=True)
class Again:
    """How a rerun gets a program that its run got with ``--system NAME=PATH``."""

    system: str
    by: By
    """``itself``: the same path. ``origin``: its stated image. ``image`` and ``source``: what ``systems/<name>.toml``
    declares. ``nothing``: somebody must provide it."""
    value: str | None
    """New value of ``--system``; None leaves the option out."""
    series: str | None = None
    """The declared version, if any version that begins with it is accepted."""
    origin: str | None = None
    """Its origin, as the command of the run states it."""
    recorded: Mapping[str, Any] | None = None
    """The program, as ``run.json`` describes it."""


def programs(run: Mapping[str, Any], provided: Mapping[str, str], catalogue: Catalogue) -> list[Again]:
    """Return how a rerun gets each program that its run got by its path; ``provided`` are paths here.

    Raise RequestError for a provided program that the run did not get in this way.
    """
    _, words = made_by(run["argv"])
    given = {name: value for name, value in given_to("--system", words or []).items() if "://" not in value}
    if strange := next((name for name in given if not is_name(name)), None):
        raise RequestError(
            f"The run.json of {run['run_id']} names the system {shown(strange)}, but a name has only {NAME_RULE}.",
            "Use the unchanged run.json from the folder of the run, and trust no other.",
        )
    for name in provided:
        if name not in given:
            raise RequestError(
                f"--system {name}=…: the run {run['run_id']} got no program of {name} by its path.",
                f"Leave it out, or name one of: {', '.join(given)}." if given else "Leave it out.",
            )
    origins = given_to("--origin", words or [])
    recorded = run.get("programs")
    held: dict[str, Any] = recorded if isinstance(recorded, dict) else {}
    return [
        _again(name, value, provided.get(name), origins.get(name), held.get(name), catalogue)
        for name, value in given.items()
    ]


def _again(
    name: str, value: str, provided: str | None, origin: str | None, recorded: Any, catalogue: Catalogue
) -> Again:
    stated = origin if origin is not None and program_origin.is_origin(origin) else None
    known: dict[str, Any] = recorded if isinstance(recorded, dict) else {}

    def again(by: By, value: str | None, series: str | None = None) -> Again:
        return Again(name, by, value, series, stated, known)

    if provided is not None:
        return again("user", str(user_supplied.file(f"--system {name}={provided}", provided)))
    if not _is_lost(value):
        return again("itself", value)
    if stated and (reference := program_origin.image_of(stated)):
        return again("origin", f"{SCHEME}{reference}")
    return again(*_declared(name, value, str(known.get("version")), catalogue))


def _declared(name: str, value: str, version: str, catalogue: Catalogue) -> tuple[By, str | None, str | None]:
    """Return the same for a program that only the declaration of its system can replace."""
    system = catalogue.system(name) if name in catalogue.names("system") else None
    if system is None or not _is_pinned(system, version):
        return "nothing", value, None
    series = system.version if system.match == "series" else None
    if (declared := _image(system)) or _has_source(system):
        return "image" if declared else "source", declared, series
    return "nothing", value, None


def _is_pinned(system: System, version: str) -> bool:
    in_series = system.match == "series" and version.startswith(f"{system.version}.")
    return version == system.version or in_series


def _has_source(system: System) -> bool:
    """Return whether a system comes from elsewhere than images and programs of this machine."""
    source = system.source
    return any((source.go, source.maven, source.nix, source.python, source.own))


def _is_lost(path: str) -> bool:
    """Return whether a path names no file of this machine; an export replaces private folders by ``…``."""
    return "…" in path or not os.path.exists(os.path.expanduser(path))  # noqa: PTH110, PTH111 - they never raise


def _image(system: System) -> str | None:
    """Return the declared image of a system as a value of ``--system``, by its digest if it has one."""
    source = system.source.docker
    if source is None or all(image.not_run(system, source, way) for way in image.WAYS):
        return None
    digest = image_lock.of(Request()).wanted(source.reference)
    options = source.model_dump(include=set(ContainerSource.model_fields), exclude_defaults=True)
    query = f"?{urlencode(options, safe=':')}" if options else ""
    return f"{SCHEME}{source.image}{f'@{digest}' if digest else ''}{query}"
