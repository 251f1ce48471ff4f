"""The page of systems: what is pinned, where each comes from, and what its acknowledgement is worth."""

from __future__ import annotations

from typing import Any

from benchbook.analyse import quantity
from benchbook.analyse.rules import DURABILITY
from benchbook.declare.catalogue import Catalogue
from benchbook.report.table import Code, Table


def pins() -> Table:
    """Return one row a declared system: version, how it is matched, kind, sources, licence."""
    catalogue = Catalogue()
    rows: list[list[str | Code]] = []
    for name in catalogue.names("system"):
        one = catalogue.system(name)
        version = one.version if one.match == "exact" else f"{one.version} (any of the series)"
        rows.append(
            [
                one.title,
                version,
                "embedded" if one.embedded else "server",
                "; ".join(_sources(one)),
                one.license or "not stated",
            ]
        )
    return Table(["System", "Version", "Kind", "Where it comes from", "Licence"], rows)


def digests() -> Table:
    """Return the digests that pin images, where a system has one."""
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
    """Return one row a system and arm: what has happened to the data when a write is acknowledged."""
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
    return Table(["System", "Arm", *DURABILITY.values(), "Settings changed"], rows)


WAYS = {"nix": "Nix", "docker": "image", "go": "Go module", "python": "Python package", "host": "on PATH:"}
"""What a way to get a system is called; one that is not named here keeps its own name."""


def _sources(system: Any) -> list[str]:
    """Describe each way by its first field, whatever ways there are."""
    found = []
    for way, held in system.source:
        if held is None:
            continue
        fields = held.model_dump()
        what = (
            fields.get("image") or fields.get("package") or fields.get("attribute") or fields.get("program")
        )
        named = what or next((str(value) for value in fields.values() if value), "")
        pin = f" ({fields['pin']} pin)" if fields.get("pin") else ""
        found.append(f"{WAYS.get(way, way)} {named}{pin}")
    return found or ["given with --system"]
