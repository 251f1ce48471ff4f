"""``bench lock``: lock the tags of images to digests, or check that every image has one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from benchbook.cli import options, table

if TYPE_CHECKING:
    from benchbook.declare.system import DockerSource
    from benchbook.provision.image_lock import Lock
    from benchbook.provision.request import Request


def command(
    systems: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SYSTEM]...", help="Systems; all by default.", show_default=False),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Change nothing and ask no registry: fail if an image has no digest and the lock does not list it.",
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Lock the tags of images to their present digests.

    Asks the registries and writes systems/images.lock.json, which you commit. Runs use exactly these images from then
    on. An image whose digest is in systems/<name>.toml stays as it is.
    """
    from benchbook.declare.catalogue import Catalogue
    from benchbook.errors import unknown
    from benchbook.provision import image_lock
    from benchbook.provision.request import Request
    from benchbook.run.benchload import go_command

    catalogue = Catalogue()
    names = catalogue.names("system")
    for name in systems or ():
        if name not in names:
            raise unknown("system", name, names)
    request = Request(go=go_command())
    lock = image_lock.of(request)
    images = {
        name: source
        for name in systems or names
        if (source := catalogue.system(name).source.docker) is not None
    }
    if check:
        _check(images, lock, whole=not systems, as_json=as_json)
    else:
        _lock(images, lock, request, as_json)


def _lock(images: dict[str, DockerSource], lock: Lock, request: Request, as_json: bool) -> None:
    """Ask the registries for the present digests, and write them."""
    from benchbook.errors import RequestError, Unavailable
    from benchbook.provision import image, image_lock

    if lock.written != lock.project:
        raise RequestError(
            f"{lock.project} cannot be written, and its digests come first.",
            "Run `./bench lock` in a clone of Benchbook, and commit the file.",
        )
    rows, failed = [], False
    for name, source in images.items():
        if source.digest:
            continue
        tag = image_lock.tag_of(source.image)
        before = lock.digest(tag)
        try:
            now = image.latest_digest(tag, request)
            if before != now:
                lock.add(tag, now, image_lock.COMMAND)
            state = "locked" if before is None else "same" if before == now else f"changed from {before}"
        except Unavailable as reason:
            now, state, failed = before or "", f"not asked: {reason.message}", True
        rows.append({"system": name, "image": tag, "digest": now, "state": state})
    table.show(rows, as_json=as_json)
    raise typer.Exit(1 if failed else 0)


def _check(images: dict[str, DockerSource], lock: Lock, whole: bool, as_json: bool) -> None:
    """Show where the digest of each image is; raise RequestError for images without one, and for unused entries."""
    from benchbook.errors import RequestError
    from benchbook.provision import image_lock

    own = image_lock.read(lock.project)
    entries = {**(image_lock.read(lock.shared) if lock.shared else {}), **own}
    rows, open_ = [], []
    for name, source in images.items():
        tag = image_lock.tag_of(source.image)
        entry = entries.get(tag)
        if source.digest:
            state = f"systems/{name}.toml"
        elif entry is None:
            state = "no digest"
            open_.append(f"{name} ({tag})")
        elif entry.digest is None:
            state = f"not pulled yet: its {entry.by} locks it"
        else:
            state = f"locked by {entry.by}" + (f" on {entry.on}" if entry.on else "")
        digest = source.digest or (entry.digest if entry else None) or ""
        rows.append({"system": name, "image": tag, "digest": digest, "state": state})
    table.show(rows, as_json=as_json)
    if open_:
        raise RequestError(
            f"{len(open_)} {'images have' if len(open_) > 1 else 'image has'} no digest: {', '.join(open_)}.",
            f"Add `digest` to source.docker there, or lock it: ./bench lock {open_[0].partition(' ')[0]}.",
        )
    unused = sorted(own.keys() - {image_lock.tag_of(one.image) for one in images.values() if not one.digest})
    if whole and unused:
        raise RequestError(
            f"systems/{image_lock.FILE} locks {', '.join(unused)}, which no system uses without a digest of its own.",
            "Remove the entry.",
        )
