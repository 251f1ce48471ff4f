"""Tables of the declared systems: pinned versions, sources, image digests and durability."""

from __future__ import annotations

from typing import Any

from benchbook.analyse import quantity
from benchbook.analyse.rules import DURABILITY
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.toml import Model
from benchbook.report.table import Code, Table


def pins() -> Table:
    """Return a row for each declared system: version, kind, sources and licence."""
    catalogue = Catalogue()
    rows: list[list[str | Code]] = []
    for name in catalogue.names("system"):
        one = catalogue.system(name)
        version = one.version if one.match == "exact" else f"{one.version} (any of the series)"
        rows.append(
            [
                one.title,
                version,
                "embedded" if one.embedded else "command" if one.source.command else "server",
                "; ".join(_sources(one)),
                one.license or "not stated",
            ]
        )
    return Table(["System", "Version", "Kind", "Sources", "Licence"], rows)


def digests() -> Table:
    """Return a row for each system with an image: the image and its digest."""
    catalogue = Catalogue()
    rows: list[list[str | Code]] = []
    for name in catalogue.names("system"):
        docker = catalogue.system(name).source.docker
        if docker is not None:
            digest = getattr(docker, "digest", None)
            rows.append(
                [Code(name), Code(docker.image), Code(digest) if digest else "recorded at the first pull"]
            )
    return Table(["System", "Image", "Digest"], rows)


def durability() -> Table:
    """Return a row for each system and arm: its declared durability and changed settings."""
    catalogue = Catalogue()
    rows: list[list[str | Code]] = []
    for name in catalogue.names("system"):
        one = catalogue.system(name)
        for arm, held in one.arms.items():
            stated = held.durability
            known: dict[str, Any] = stated.model_dump() if stated is not None else {}
            settings = ", ".join(
                f"{key} = {quantity.fact_text(value)}" for key, value in held.settings.items()
            )
            rows.append(
                [
                    one.title,
                    arm,
                    *(str(known.get(key) or "not declared") for key in DURABILITY),
                    settings or "none",
                ]
            )
    return Table(["System", "Configuration", *DURABILITY.values(), "Changed settings"], rows)


WAYS = {"nix": "Nix", "docker": "image", "go": "Go module", "python": "Python package", "host": "on PATH:"}
"""Source → its text; others keep their name."""


def _sources(system: Any) -> list[str]:
    """Return the text of each source, with its main field."""
    found = []
    for way, held in system.source:
        if not isinstance(held, Model):  # none, or the command of a program that is found on PATH
            continue
        fields = held.model_dump()
        what = (
            fields.get("image") or fields.get("package") or fields.get("attribute") or fields.get("program")
        )
        named = what or next((str(value) for value in fields.values() if value), "")
        pin = f" ({fields['pin']} pin)" if fields.get("pin") else ""
        found.append(f"{WAYS.get(way, way)} {named}{pin}")
    return found or ["given with --system"]
