"""Maven: artifacts by pinned coordinates, fetched once by the user's ``mvn``, each checked against its SHA-256.

The system's declaration lists every coordinate with its digest, so Maven resolves nothing at run time and a repository
cannot change the files. ``harness/relock-maven`` writes the list. Jars go into one folder; a distribution (a zip) is
unpacked there.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from benchbook.errors import Unavailable
from benchbook.host import temporary
from benchbook.host.provenance import sha256_of
from benchbook.process.launch import Program, call
from benchbook.provision.lock import with_lock
from benchbook.provision.request import INSTALL_SECONDS, Missing, Request, fill_once, on_path

if TYPE_CHECKING:
    from benchbook.declare.system import MavenSource, System


HEADING = "[source.maven.sha256]"
"""Table of a declaration with the lock of its artifacts."""


def coordinates(folder: Path) -> dict[str, str]:
    """Return coordinate → SHA-256 of every file in a folder with the layout of a Maven repository."""
    found = {}
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.suffix not in (".jar", ".zip"):
            continue
        *group, artifact, version, name = file.relative_to(folder).parts
        rest = name.removeprefix(f"{artifact}-{version}").removesuffix(file.suffix)
        parts = [".".join(group), artifact, version, file.suffix[1:], *([rest[1:]] if rest else [])]
        if rest != "-sources":
            found[":".join(parts)] = sha256_of(file).removeprefix("sha256:")
    return found


def main(arguments: list[str]) -> None:
    """Serve ``harness/relock-maven``: ``project FILE`` prints a project, ``write FILE FOLDER`` writes the lock."""
    file = Path(arguments[1])
    text = file.read_text(encoding="utf-8")
    if arguments[0] == "project":
        artifacts = tomllib.loads(text)["source"]["maven"]["artifacts"]
        wanted = [one if one.count(":") > 2 else f"{one}:jar" for one in artifacts]
        print(project(wanted, without_dependencies=False))  # noqa: T201
    else:
        file.write_text(with_lock(text, HEADING, coordinates(Path(arguments[2]))), encoding="utf-8")


PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
"""The goal that fetches artifacts, at a fixed version."""
RECORD = "maven.json"
PACKAGES = "sudo apt-get install maven openjdk-17-jdk-headless"


def find(system: System, request: Request) -> Program | Missing | None:
    """Return the cached program (or folder of jars); fetch it first if it is missing or incomplete.

    Raise Unavailable with Maven's message if fetching fails, or if an artifact does not match its pin.
    """
    source = system.source.maven
    if source is None:
        return None
    if on_path("java", request) is None:
        return Missing("maven: no java on PATH to run it", PACKAGES)
    folder = folder_of(system, request)
    if not _is_complete(folder, source):
        maven = on_path("mvn", request)
        if maven is None:
            return Missing(
                f"maven: not in the cache {request.cache_folder()}, and no mvn on PATH to fetch it", PACKAGES
            )
        fill_once(
            folder,
            lambda: _is_complete(folder, source),
            lambda new: _fetch(new, system, source, maven, request),
            system.title,
            request,
        )
    path = folder / source.program if source.program else folder
    return Program(
        system.name,
        system.version,
        "maven",
        path=path,
        digest=digest(source),
        detail=f"{len(source.sha256)} Maven artifacts: {', '.join(source.artifacts)}",
    )


def preview(system: System, request: Request) -> str | Missing | None:
    """Describe the cached artifacts, or what would be fetched."""
    source = system.source.maven
    if source is None:
        return None
    folder = folder_of(system, request)
    if on_path("java", request) is None:
        return Missing("maven: no java on PATH to run it", PACKAGES)
    if (folder / RECORD).is_file():
        return f"use {folder} ({', '.join(source.artifacts)})"
    if on_path("mvn", request) is None:
        return Missing(
            f"maven: not in the cache {request.cache_folder()}, and no mvn on PATH to fetch it", PACKAGES
        )
    return f"fetch {len(source.sha256)} Maven artifacts once, with mvn: {', '.join(source.artifacts)}, into {folder}"


def folder_of(system: System, request: Request) -> Path:
    """Return the cache folder of exactly these artifacts."""
    source = system.source.maven
    assert source is not None
    return request.cache_folder() / "systems" / f"{system.name}-{_key(source)[:16]}"


def file_name(coordinate: str) -> str:
    """Return the file name of a coordinate.

    >>> file_name("org.example:server:1.2:jar"), file_name("org.example:server:1.2:zip:all")
    ('server-1.2.jar', 'server-1.2-all.zip')
    """
    _, artifact, version, kind, *classifier = coordinate.split(":")
    return "-".join([artifact, version, *classifier]) + f".{kind}"


def digest(source: MavenSource) -> str:
    """Return the digest of all pinned files."""
    return f"sha256:{_key(source)}"


def _key(source: MavenSource) -> str:
    return hashlib.sha256(json.dumps(source.sha256, sort_keys=True).encode()).hexdigest()


def _is_complete(folder: Path, source: MavenSource) -> bool:
    """Return whether the cache has every artifact; jars are verified again because they are executed."""
    if not (folder / RECORD).is_file():
        return False
    if source.program:
        return (folder / source.program).is_file()
    return all(_has_digest(folder / file_name(one), wanted) for one, wanted in source.sha256.items())


def _has_digest(file: Path, wanted: str) -> bool:
    return file.is_file() and sha256_of(file) == f"sha256:{wanted}"


def _fetch(new: Path, system: System, source: MavenSource, maven: Path, request: Request) -> None:
    request.progress(f"fetching {len(source.sha256)} Maven artifacts of {system.title}")
    with temporary.folder("maven") as work:
        pom = Path(work, "pom.xml")
        pom.write_text(project(list(source.sha256)), encoding="utf-8")
        command = [
            str(maven), "--batch-mode", "--quiet", "--file", str(pom), PLUGIN,
            f"-DoutputDirectory={new}",
        ]  # fmt: skip
        try:
            ran = call(command, INSTALL_SECONDS, env=dict(request.environment))
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unavailable(f"{system.title} could not be fetched with Maven: {error}.") from error
    if ran.returncode != 0:
        errors = [line.strip() for line in (ran.stdout + ran.stderr).splitlines() if "ERROR" in line]
        raise Unavailable(
            f"{system.title} could not be fetched with Maven: {' '.join(errors[:2])[:400] or 'no message'}",
            "Check that mvn reaches a repository (settings.xml names mirrors), then run again.",
        )
    for coordinate, wanted in source.sha256.items():
        file = new / file_name(coordinate)
        if not _has_digest(file, wanted):
            found = sha256_of(file) if file.is_file() else "no file"
            raise Unavailable(
                f"The artifact {coordinate} of {system.title} does not match its pin: "
                f"{found} instead of sha256:{wanted}.",
                f"Find out where it came from before you run anything; the pin is in systems/{system.name}.toml.",
            )
        if file.suffix == ".zip":
            _unpack(file, new)
    (new / RECORD).write_text(json.dumps({"artifacts": source.sha256}, indent=1) + "\n", encoding="utf-8")


def _unpack(file: Path, into: Path) -> None:
    """Unpack a distribution with the permissions of its files."""
    with zipfile.ZipFile(file) as archive:
        for one in archive.infolist():
            made = Path(archive.extract(one, into))
            if rights := one.external_attr >> 16 & 0o777:
                made.chmod(rights | 0o400)
    file.unlink()


NO_DEPENDENCIES = (
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
)
"""Makes Maven ignore the dependencies of an artifact."""


def project(coordinates: list[str], *, without_dependencies: bool = True) -> str:
    """Return the Maven project that needs these artifacts, without their dependencies by default."""
    exclusions = NO_DEPENDENCIES if without_dependencies else ""
    lines = []
    for coordinate in coordinates:
        group, artifact, version, kind, *classifier = (escape(part) for part in coordinate.split(":"))
        more = f"<classifier>{classifier[0]}</classifier>" if classifier else ""
        lines.append(
            f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
            f"<version>{version}</version><type>{kind}</type>{more}{exclusions}</dependency>"
        )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>benchbook</groupId><artifactId>system</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>{''.join(lines)}</dependencies></project>\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
