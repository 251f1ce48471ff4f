"""Maven: artifacts by pinned coordinates, fetched once by the user's ``mvn``, each checked against its sha256."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from benchbook.errors import Unavailable
from benchbook.process.launch import Program
from benchbook.provision import cache
from benchbook.provision.request import Missing, Request

if TYPE_CHECKING:
    from benchbook.declare.system import MavenSource, System


# The lock of a system that comes from Maven: made by ``harness/relock-maven``, never at run time.

HEADING = "[source.maven.sha256]"


def coordinates(folder: Path) -> dict[str, str]:
    """Return coordinate → sha256 of every file in a folder laid out as a Maven repository."""
    found = {}
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.suffix not in (".jar", ".zip"):
            continue
        *group, artifact, version, name = file.relative_to(folder).parts
        rest = name.removeprefix(f"{artifact}-{version}").removesuffix(file.suffix)
        parts = [".".join(group), artifact, version, file.suffix[1:], *([rest[1:]] if rest else [])]
        if rest != "-sources":
            found[":".join(parts)] = cache.sha256_of(file).removeprefix("sha256:")
    return found


def with_lock(text: str, locked: dict[str, str]) -> str:
    r"""Return a declaration with its table of digests replaced.

    >>> print(with_lock('a = 1\n\n[source.maven.sha256]\n"x" = "0"\n\n[arms]\n', {"g:a:1:jar": "f"}))
    a = 1
    <BLANKLINE>
    [source.maven.sha256]
    "g:a:1:jar" = "f"
    <BLANKLINE>
    [arms]
    <BLANKLINE>
    """
    before, heading, after = text.partition(HEADING + "\n")
    if not heading:
        return text
    rest = after[after.index("\n[") + 1 :] if "\n[" in after else ""
    lines = "".join(f'"{name}" = "{sha256}"\n' for name, sha256 in locked.items())
    return f"{before}{heading}{lines}\n{rest}"


def main(arguments: list[str]) -> None:
    """``project FILE`` prints the Maven project of a declaration; ``write FILE FOLDER`` writes its table."""
    file = Path(arguments[1])
    text = file.read_text(encoding="utf-8")
    if arguments[0] == "project":
        wanted = tomllib.loads(text)["source"]["maven"]["artifacts"]
        print(project([one if one.count(":") > 2 else f"{one}:jar" for one in wanted], alone=False))  # noqa: T201
    else:
        file.write_text(with_lock(text, coordinates(Path(arguments[2]))), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])


# Maven: artifacts by pinned coordinates, fetched once by the user's own ``mvn``, each held against its sha256.
#
# The coordinates stand in the system's declaration with their digests, whole: nothing is resolved here, so the same
# files come whatever a repository says. ``harness/relock-maven`` writes them. Jars go into one folder; a distribution
# (a zip) is unpacked there, and its program is what is run.

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
"""The goal that fetches, at a fixed version."""
RECORD = "maven.json"
PACKAGES = "sudo apt-get install maven openjdk-17-jdk-headless"


def find(system: System, request: Request) -> Program | Missing | None:
    """Return the program (or the folder of jars) in the cache, fetching it first where that is not whole.

    Raises Unavailable with Maven's words when it cannot fetch, or when an artifact has another digest than its pin.
    """
    source = system.source.maven
    if source is None:
        return None
    if _on_path("java", request) is None:
        return Missing("maven: no java on PATH to run it", PACKAGES)
    folder = folder_of(system, request)
    if not _whole(folder, source):
        maven = _on_path("mvn", request)
        if maven is None:
            return Missing(
                f"maven: not in the cache {request.cache_folder()}, and no mvn on PATH to fetch it", PACKAGES
            )
        cache.fill_once(
            folder,
            lambda: _whole(folder, source),
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
        digest=f"sha256:{_key(source)}",
        detail=f"{len(source.sha256)} Maven artifacts: {', '.join(source.artifacts)}",
    )


def preview(system: System, request: Request) -> str | Missing | None:
    """Say whether the cache has it, or what would be fetched."""
    source = system.source.maven
    if source is None:
        return None
    folder = folder_of(system, request)
    if _on_path("java", request) is None:
        return Missing("maven: no java on PATH to run it", PACKAGES)
    if (folder / RECORD).is_file():
        return f"use {folder} ({', '.join(source.artifacts)})"
    if _on_path("mvn", request) is None:
        return Missing(
            f"maven: not in the cache {request.cache_folder()}, and no mvn on PATH to fetch it", PACKAGES
        )
    return f"fetch {len(source.sha256)} Maven artifacts once, with mvn: {', '.join(source.artifacts)}, into {folder}"


def folder_of(system: System, request: Request) -> Path:
    """Return the folder of the cache in which these very artifacts stand."""
    source = system.source.maven
    assert source is not None
    return request.cache_folder() / "systems" / f"{system.name}-{_key(source)[:16]}"


def file_name(coordinate: str) -> str:
    """Return what Maven calls the file of a coordinate.

    >>> file_name("org.example:server:1.2:jar"), file_name("org.example:server:1.2:zip:all")
    ('server-1.2.jar', 'server-1.2-all.zip')
    """
    _, artifact, version, kind, *classifier = coordinate.split(":")
    return "-".join([artifact, version, *classifier]) + f".{kind}"


def _key(source: MavenSource) -> str:
    return hashlib.sha256(json.dumps(source.sha256, sort_keys=True).encode()).hexdigest()


def _whole(folder: Path, source: MavenSource) -> bool:
    """Say whether the cache holds what was fetched; jars are read again, for they are what is run."""
    if not (folder / RECORD).is_file():
        return False
    if source.program:
        return (folder / source.program).is_file()
    return all(_is(folder / file_name(one), wanted) for one, wanted in source.sha256.items())


def _is(file: Path, wanted: str) -> bool:
    return file.is_file() and cache.sha256_of(file) == f"sha256:{wanted}"


def _fetch(new: Path, system: System, source: MavenSource, maven: Path, request: Request) -> None:
    request.progress(f"fetching {len(source.sha256)} Maven artifacts of {system.title}")
    with tempfile.TemporaryDirectory(prefix="benchbook-maven-") as work:
        pom = Path(work, "pom.xml")
        pom.write_text(project(list(source.sha256)), encoding="utf-8")
        command = [
            str(maven), "--batch-mode", "--quiet", "--file", str(pom), PLUGIN,
            f"-DoutputDirectory={new}",
        ]  # fmt: skip
        ran = subprocess.run(
            command, env=dict(request.environment), stdin=subprocess.DEVNULL, check=False,
            capture_output=True, text=True, errors="replace",
        )  # fmt: skip
    if ran.returncode != 0:
        said = [line.strip() for line in (ran.stdout + ran.stderr).splitlines() if "ERROR" in line]
        raise Unavailable(
            f"{system.title} could not be fetched with Maven: {' '.join(said[:2])[:400] or 'it said nothing'}",
            "See that mvn reaches a repository (its settings.xml names mirrors), then run again.",
        )
    for coordinate, wanted in source.sha256.items():
        file = new / file_name(coordinate)
        if not _is(file, wanted):
            found = cache.sha256_of(file) if file.is_file() else "no file"
            raise Unavailable(
                f"The artifact {coordinate} of {system.title} is not the pinned one: "
                f"{found} instead of sha256:{wanted}.",
                f"Ask where it came from before anything is run; the pin is in systems/{system.name}.toml.",
            )
        if file.suffix == ".zip":
            _unpack(file, new)
    (new / RECORD).write_text(json.dumps({"artifacts": source.sha256}, indent=1) + "\n", encoding="utf-8")


def _unpack(file: Path, into: Path) -> None:
    """Unpack a distribution, with the rights that its files have."""
    with zipfile.ZipFile(file) as held:
        for one in held.infolist():
            made = Path(held.extract(one, into))
            if rights := one.external_attr >> 16 & 0o777:
                made.chmod(rights | 0o400)
    file.unlink()


ALONE = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
"""What a dependency says that nothing is to be looked for that it needs."""


def project(coordinates: list[str], *, alone: bool = True) -> str:
    """Return the Maven project that needs these artifacts, and where ``alone`` nothing that they need."""
    lines = []
    for coordinate in coordinates:
        group, artifact, version, kind, *classifier = (escape(part) for part in coordinate.split(":"))
        more = f"<classifier>{classifier[0]}</classifier>" if classifier else ""
        lines.append(
            f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
            f"<version>{version}</version><type>{kind}</type>{more}{ALONE if alone else ''}</dependency>"
        )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>benchbook</groupId><artifactId>system</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>{''.join(lines)}</dependencies></project>\n"
    )


def _on_path(program: str, request: Request) -> Path | None:
    found = shutil.which(program, path=request.environment.get("PATH"))
    return Path(found).absolute() if found else None
