"""``bench lock``: lock the tags of images to the digests that registries have now."""

from __future__ import annotations

from typing import Annotated

import typer

from benchbook.cli import options, table


def command(
    systems: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SYSTEM]...", help="Systems; all by default.", show_default=False),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Lock the tags of images to their present digests.

    Asks the registries and writes systems/images.lock.json, which you commit. Runs use exactly these images from then
    on. An image whose digest is in systems/<name>.toml stays as it is.
    """
    from benchbook.declare.catalogue import Catalogue
    from benchbook.errors import Unavailable, unknown
    from benchbook.provision import image, image_lock
    from benchbook.provision.request import Request
    from benchbook.run.benchload import go_command

    catalogue = Catalogue()
    names = catalogue.names("system")
    for name in systems or ():
        if name not in names:
            raise unknown("system", name, names)
    request = Request(go=go_command())
    lock = image_lock.file(request)
    rows, failed = [], False
    for name in systems or names:
        source = catalogue.system(name).source.docker
        if source is None or source.digest:
            continue
        tag = image_lock.tag_of(source.image)
        before = image_lock.locked_digest(lock, tag)
        try:
            now = image.latest_digest(tag, request)
            image_lock.lock_tag(lock, tag, now)
            state = "locked" if before is None else "same" if before == now else f"changed from {before}"
        except Unavailable as reason:
            now, state, failed = before or "", f"not asked: {reason.message}", True
        rows.append({"system": name, "image": tag, "digest": now, "state": state})
    table.show(rows, as_json=as_json)
    raise typer.Exit(1 if failed else 0)
