"""Images without a container engine: pulled once by crane or skopeo, unpacked into the cache, started by bubblewrap.

An image is known by its digest. A pull that was interrupted continues: what has arrived stays in the cache until the
image is unpacked.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.declare.system import ContainerSource, DockerSource
from benchbook.errors import Unavailable
from benchbook.host.texts import number
from benchbook.process import containers, sandbox
from benchbook.process.launch import ContainerOptions, Program
from benchbook.provision import go, image_lock, oci
from benchbook.provision.request import Missing, Request, fill_once, last_lines, on_path, watched
from benchbook.systems import driver

if TYPE_CHECKING:
    from benchbook.declare.system import System

CRANE = go.Pin(
    "github.com/google/go-containerregistry/cmd/crane",
    "0.22.1",
    "-s -w",
    sys.platform,
    go.architecture(),
    "crane",
)
MIRROR = "BENCHBOOK_REGISTRY"
"""Variable that names a registry, ``HOST:PORT`` or ``HOST:PORT/FOLDER``, which has every image by its name."""
DEFAULT_REGISTRY = "index.docker.io"
PROXIES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
ANSWER_SECONDS = 5.0
"""Time that a registry may take to accept a connection."""


def find(system: System, request: Request) -> Program | Missing | None:
    """Return the declared image, unpacked; pull it first if the cache lacks it."""
    source = system.source.docker
    if source is None:
        return None
    if missing := not_run(system, source, "image") or _no_sandbox(source, request):
        return missing
    assert source.program is not None
    lock = image_lock.of(request)
    try:
        return _program(system, "image", source.reference, source.program, source, request, lock)
    except Unavailable as reason:
        return Missing(f"image: {reason.message.rstrip('.')}", reason.hint)


def preview(system: System, request: Request) -> str | Missing | None:
    """Describe the cached image, or what would be pulled."""
    source = system.source.docker
    if source is None:
        return None
    if missing := not_run(system, source, "image") or _no_sandbox(source, request):
        return missing
    digest = image_lock.of(request).wanted(source.reference)
    shown = f"{source.image}@{digest}" if digest else source.image
    folder = _folder(digest, request) if digest else request.cache_folder() / "images"
    if digest and _is_complete(folder, digest):
        return f"use the image {shown}, unpacked in {folder}, without an engine"
    if missing := _no_tool(request):
        return missing
    return f"pull the image {shown} once, unpack it into {folder}, and run it without an engine"


def user_supplied(
    system: System, flag: str, reference: str, program: str, options: ContainerSource, request: Request
) -> Program:
    """Return the image that ``--system NAME=docker://IMAGE`` names, unpacked; raise Unavailable if it cannot run."""
    if missing := _no_sandbox(options, request):
        raise Unavailable(f"{flag}: {missing.reason}.", f"Fix it with: {missing.command}")
    return _program(system, "given", reference, program, options, request, None)


WAYS = {
    "docker": (driver.runs_in_containers, "in containers"),
    "image": (driver.runs_from_images, "from images"),
}
"""Source → whether a driver supports it, and its words."""


def not_run(system: System, source: DockerSource, way: str) -> Missing | None:
    """Return why a declared image cannot run in one of the ``WAYS`` on any machine, or None."""
    if source.program is None:
        return Missing(
            f"{way}: source.docker in systems/{system.name}.toml does not name a program of {source.image}"
        )
    supports, words = WAYS[way]
    return (
        None
        if supports(system.driver)
        else Missing(f"{way}: the driver {system.driver} does not run {words} yet")
    )


def _no_sandbox(options: ContainerSource, request: Request) -> Missing | None:
    """Return why this machine cannot run an image with these options without an engine, or None."""
    if options.network == "private" or options.cores:
        asked = 'network = "private"' if options.network == "private" else f'cores = "{options.cores}"'
        return Missing(f"image: {asked} needs a container engine", containers.INSTALL)
    reason = sandbox.refusal(request.environment)
    if reason is None:
        return None
    forbidden = on_path(sandbox.PROGRAM, request) is not None
    return Missing(f"image: {reason}", containers.INSTALL if forbidden else sandbox.INSTALL)


def _no_tool(request: Request) -> Missing | None:
    """Return what is missing to pull an image, or None."""
    if any(on_path(name, request) for name in ("crane", "skopeo", str(request.go or "go"))):
        return None
    return Missing("image: no crane, skopeo or go on PATH to pull it", "sudo apt-get install skopeo")


def _program(
    system: System,
    source: str,
    reference: str,
    program: str,
    options: ContainerSource,
    request: Request,
    lock: image_lock.Lock | None,
) -> Program:
    """Return the program in an unpacked image. ``lock`` locks its tag; None for an image of the user."""
    digest = reference.partition("@")[2] or (lock.wanted(reference) if lock else None)
    tag = image_lock.tag_of(reference)
    if digest is None:
        digest = latest_digest(tag, request)
    folder = _folder(digest, request)
    repository = _at_mirror(tag.rpartition(":")[0], request.environment)
    if not _is_complete(folder, digest):
        fill_once(
            folder,
            lambda: _is_complete(folder, digest),
            lambda new: _fill(new, folder, f"{repository}@{digest}", digest, tag, request),
            f"the image {tag}",
            request,
        )
    if lock and not lock.wanted(reference):
        lock.add(tag, digest, image_lock.FIRST_PULL)
        request.progress(f"{tag} is now locked to {digest} ({lock.written})")
    root = folder / "root"
    path = _located(folder, program)
    if path is None:
        raise Unavailable(
            f"the image {tag} has no program {program}.",
            f"Correct source.docker in systems/{system.name}.toml.",
        )
    user = options.user or _user(folder, driver.server_users(system.driver))
    container = ContainerOptions("host", options.cpus, None, options.memory_bytes(), user)
    shown = reference if "@" in reference else f"{reference}@{digest}"
    return Program(
        system.name,
        system.version,
        source,
        path=path,
        digest=digest,
        detail=f"image {shown}, without an engine, {container.description()}",
        container=container,
        root=root,
    )


def latest_digest(tag: str, request: Request) -> str:
    """Return the digest that a registry has for a tag now; raise Unavailable if it does not answer."""
    here = _at_mirror(tag, request.environment)
    _reach(here, request.environment)
    tool = _tool(request)
    command: list[str | Path] = (
        [tool, "digest", here]
        if tool.name == "crane"
        else [
            tool,
            "inspect",
            *_insecure(here, "--tls-verify=false"),
            "--format={{.Digest}}",
            f"docker://{here}",
        ]
    )
    return _run(command, tag, request)[-1]


def _fill(new: Path, folder: Path, reference: str, digest: str, tag: str, request: Request) -> None:
    """Pull an image into a layout next to ``folder``, which outlives an interruption, and unpack it into ``new``."""
    _reach(reference, request.environment)
    tool = _tool(request)
    layout = folder.with_name(f"{folder.name}.oci")
    layout.mkdir(exist_ok=True)
    (layout / "index.json").unlink(missing_ok=True)  # a pull adds its image to those that the index has
    command: list[str | Path] = (
        [tool, "pull", "--format=oci", f"--platform=linux/{go.architecture()}", reference, layout]
        if tool.name == "crane"
        else [
            tool, "copy", "--override-os=linux", f"--override-arch={go.architecture()}",
            *_insecure(reference, "--src-tls-verify=false"), f"docker://{reference}", f"oci:{layout}:image",
        ]
    )  # fmt: skip
    request.progress(f"pulling {tag}")
    _run(command, tag, request, layout)
    request.progress(f"unpacking {tag}")
    stated = oci.unpack(layout, new / "root")
    record = {"image": tag, "digest": digest, "config": stated.get("config") or {}}
    (new / sandbox.CONFIGURATION).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(layout)


def _run(command: list[str | Path], tag: str, request: Request, layout: Path | None = None) -> list[str]:
    """Run crane or skopeo and return the lines of its output; raise Unavailable with them if it fails."""

    def step() -> str:
        held = sum(file.stat().st_size for file in _files(layout)) if layout else 0
        return f"pulling {tag}: {held / 1e6:.0f} MB"

    folder = request.cache_folder() / "images"
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f".{hashlib.sha256(' '.join(map(str, command)).encode()).hexdigest()[:16]}.log"
    try:
        code = watched(command, log, request.environment, step, request)
        lines = last_lines(log, 3)
    finally:
        log.unlink(missing_ok=True)
    if code != 0 or not (lines or layout):
        raise Unavailable(
            f"the image {tag} cannot be pulled: {' | '.join(lines)[-400:] or f'code {code}'}.",
            f"See the cause with: {' '.join(map(str, command))}",
        )
    return lines


def _files(layout: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return [file for file in layout.rglob("*") if file.is_file()]
    return []


def _tool(request: Request) -> Path:
    """Return crane or skopeo of this machine, else crane built once from its Go module."""
    for name in ("crane", "skopeo"):
        if found := on_path(name, request):
            return found
    folder = request.cache_folder() / "tools" / f"crane-{CRANE.key()}"
    made = go.built(CRANE, folder, "crane (it pulls images)", request)
    if isinstance(made, Missing):
        raise Unavailable(
            "there is no crane, skopeo or go on PATH to pull it.", "sudo apt-get install skopeo"
        )
    return folder / CRANE.program


def _folder(digest: str, request: Request) -> Path:
    key = hashlib.sha256(f"{digest} {go.architecture()}".encode()).hexdigest()[:16]
    return request.cache_folder() / "images" / key


def _is_complete(folder: Path, digest: str) -> bool:
    return _record(folder).get("digest") == digest and (folder / "root").is_dir()


def _record(folder: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / sandbox.CONFIGURATION).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def _located(folder: Path, program: str) -> Path | None:
    """Return the path of a program in an unpacked image, which its PATH finds if it is a name."""
    variables = [one.partition("=") for one in _record(folder)["config"].get("Env") or []]
    folders = next((value for name, _, value in variables if name == "PATH"), os.defpath).split(":")
    for place in [Path(program)] if program.startswith("/") else [Path(one, program) for one in folders]:
        if sandbox.inside(folder / "root", str(place)).is_file():
            return place
    return None


def _user(folder: Path, users: tuple[str, ...]) -> str:
    """Return ``UID:GID`` of the image's processes: its own user, else a server's that refuses to be root, else root.

    Raise Unavailable if the image has no account for the user that it names.
    """
    record = _record(folder)
    name, _, group = str(record["config"].get("User") or "").partition(":")
    accounts = {one[0]: (one[2], one[3]) for one in _accounts(folder / "root", "etc/passwd")}
    groups = {one[0]: one[2] for one in _accounts(folder / "root", "etc/group")}
    if not name:
        return ":".join(next((accounts[one] for one in users if one in accounts), ("0", "0")))
    by_number = {uid: (uid, gid) for uid, gid in accounts.values()}
    uid, gid = accounts.get(name) or by_number.get(name) or (name, "0")
    gid = groups.get(group, group or gid)
    if not (uid.isdigit() and gid.isdigit()):
        raise Unavailable(
            f"the image {record.get('image')} names {name}{':' if group else ''}{group} as its user, but has no such "
            "account.",
            "Set user in source.docker.",
        )
    return f"{uid}:{gid}"


def _accounts(root: Path, name: str) -> list[list[str]]:
    """Return the fields of each line of a file of accounts or groups."""
    try:
        lines = sandbox.inside(root, name).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [line.split(":") for line in lines if line.count(":") >= 3]


def _at_mirror(name: str, environment: Mapping[str, str]) -> str:
    """Return an image's name at the registry that the environment names.

    >>> _at_mirror("redis:7", {}), _at_mirror("redis:7", {MIRROR: "127.0.0.1:5000"})
    ('redis:7', '127.0.0.1:5000/library/redis:7')
    >>> _at_mirror("docker.example.org/a/b", {MIRROR: "127.0.0.1:5000/proxy"})
    '127.0.0.1:5000/proxy/a/b'
    """
    mirror = environment.get(MIRROR, "").rstrip("/")
    return f"{mirror}/{_registry(name)[2]}" if mirror else name


def _registry(name: str) -> tuple[str, int, str]:
    """Return the host and port of an image's registry, and the image's name there.

    >>> _registry("docker.io/redis:7"), _registry("127.0.0.1:5000/a:1")
    (('index.docker.io', 443, 'library/redis:7'), ('127.0.0.1', 5000, 'a:1'))
    """
    name = name.removeprefix("docker.io/")
    host, slash, rest = name.partition("/")
    if not slash or not (set(".:") & set(host) or host == "localhost"):
        return DEFAULT_REGISTRY, 443, name if slash else f"library/{name}"
    host, _, port = host.partition(":")
    return host, number(port) or 443, rest


def _reach(reference: str, environment: Mapping[str, str]) -> None:
    """Raise Unavailable if an image's registry does not answer, before a tool is built to ask it."""
    host, port, _ = _registry(reference)
    if any(environment.get(name) for name in PROXIES):
        return
    try:
        socket.create_connection((host, port), ANSWER_SECONDS).close()
    except OSError as error:
        raise Unavailable(
            f"the registry {host}:{port} does not answer: {error.strerror or error}.",
            f"Check the network, or name a registry that has the image in {MIRROR}.",
        ) from error


def _insecure(reference: str, flag: str) -> list[str]:
    """Return skopeo's flag for a registry on this machine; crane needs none."""
    return [flag] if _registry(reference)[0] in ("localhost", "127.0.0.1") else []
