"""The lock of images: tag → digest, and what locked it. A tag that moves later still means that digest.

``systems/images.lock.json`` is part of the project. An entry without a digest names an image that nobody has pulled
yet: its first pull locks it. If the project is read-only, as in the Nix store, first pulls are written to the cache,
but a digest of the project always comes first.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.declare import checkout
from benchbook.errors import RequestError
from benchbook.record.folder import write_json

if TYPE_CHECKING:
    from benchbook.provision.request import Request

FILE = "images.lock.json"
FIRST_PULL = "first pull"
COMMAND = "bench lock"


@dataclass(frozen=True)
class Locked:
    """An entry of the lock."""

    digest: str | None
    """Digest of the image; None before its first pull."""
    by: str
    """What locks it: ``FIRST_PULL`` or ``COMMAND``."""
    on: str | None = None
    """Day on which it was locked."""


@dataclass(frozen=True)
class Lock:
    """The file of the project, and the file to which new digests are written."""

    project: Path
    written: Path
    """The project's file, to be committed; a file in the cache if the project is read-only."""
    shared: Path | None = None
    """The file that comes with Benchbook, if that is another one."""

    def entries(self) -> dict[str, Locked]:
        """Return every tag with its entry; raise RequestError if a file is damaged."""
        found: dict[str, Locked] = {}
        for file in dict.fromkeys(filter(None, (self.project, self.shared, self.written))):
            for tag, one in read(file).items():
                if tag not in found or (one.digest and not found[tag].digest):
                    found[tag] = one
        return found

    def digest(self, tag: str) -> str | None:
        """Return the digest to which a tag is locked, or None before its first pull."""
        entry = self.entries().get(tag)
        return entry.digest if entry else None

    def wanted(self, reference: str) -> str | None:
        """Return the digest that a reference names, else the one to which its tag is locked."""
        return reference.partition("@")[2] or self.digest(tag_of(reference))

    def add(self, tag: str, digest: str, by: str) -> None:
        """Lock a tag to a digest."""
        locked = Locked(digest, by, datetime.now(UTC).date().isoformat())
        entries = {**read(self.written), tag: locked}
        plain = {
            name: {key: value for key, value in asdict(one).items() if value is not None or key == "digest"}
            for name, one in sorted(entries.items())
        }
        write_json(self.written, plain)


def of(request: Request) -> Lock:
    """Return the lock: next to the systems, or as the request names it."""
    if request.image_lock is not None:
        return Lock(request.image_lock, request.image_lock)
    own, shared = checkout.root() / "systems", checkout.built_in() / "systems"
    installed = checkout.is_installed() and not checkout.is_apart()
    written = own if os.access(own, os.W_OK) and not installed else request.cache_folder()
    return Lock(own / FILE, written / FILE, shared / FILE if checkout.is_apart() else None)


def tag_of(reference: str) -> str:
    """Return the name and tag of an image, without its digest.

    >>> tag_of("redis:7"), tag_of("127.0.0.1:5000/redis"), tag_of("redis:7@sha256:00")
    ('redis:7', '127.0.0.1:5000/redis:latest', 'redis:7')
    """
    name = reference.partition("@")[0]
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def read(file: Path) -> dict[str, Locked]:
    """Return every tag of a file with its entry; raise RequestError if the file is damaged."""
    in_git = file in [layer / "systems" / FILE for layer in checkout.layers()]
    restore = "Restore it from git." if in_git else "Remove it; it is written anew."
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RequestError(f"{file} is unreadable: {error}.", restore) from error
    if not isinstance(found, dict) or not all(map(_is_entry, found.values())):
        raise RequestError(f'{file} must map each tag to {{"digest": …, "by": …}}.', restore)
    return {
        tag: Locked(entry, FIRST_PULL) if isinstance(entry, str) else Locked(**entry)
        for tag, entry in found.items()
    }


def _is_entry(value: object) -> bool:
    if isinstance(value, str):  # a file of an older Benchbook has digests alone
        return True
    if not isinstance(value, dict) or not {"digest", "by"} <= value.keys() <= {"digest", "by", "on"}:
        return False
    return all(isinstance(one, str) or (key == "digest" and one is None) for key, one in value.items())
