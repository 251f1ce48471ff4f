"""The lock of images: tag → digest of its first pull. A tag that moves later still means that digest."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.declare.catalogue import root
from benchbook.errors import RequestError
from benchbook.record.folder import write_json

if TYPE_CHECKING:
    from benchbook.provision.request import Request

FILE = "images.lock.json"


def file(request: Request) -> Path:
    """Return the lock file: next to the systems, to be committed with them; in the cache if that is read-only."""
    if request.image_lock is not None:
        return request.image_lock
    beside = root() / "systems"
    if os.access(beside, os.W_OK):
        return beside / FILE
    return request.cache_folder() / FILE


def tag_of(reference: str) -> str:
    """Return the name and tag of an image, without its digest.

    >>> tag_of("redis:7"), tag_of("127.0.0.1:5000/redis"), tag_of("redis:7@sha256:00")
    ('redis:7', '127.0.0.1:5000/redis:latest', 'redis:7')
    """
    name = reference.partition("@")[0]
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def wanted_digest(lock: Path, reference: str) -> str | None:
    """Return the digest that a reference names, else the one to which its tag is locked; None before its first pull."""
    return reference.partition("@")[2] or locked_digest(lock, tag_of(reference))


def locked_digest(lock: Path, tag: str) -> str | None:
    """Return the digest to which a tag is locked, or None before its first pull."""
    return read(lock).get(tag)


def lock_tag(lock: Path, tag: str, digest: str) -> None:
    """Lock a tag to a digest."""
    write_json(lock, dict(sorted({**read(lock), tag: digest}.items())))


def read(lock: Path) -> dict[str, str]:
    """Return every locked tag with its digest; raise RequestError if the file is damaged."""
    try:
        found = json.loads(lock.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RequestError(
            f"{lock} is unreadable: {error}.",
            "Restore it from git. Or remove it: the next run then writes the present digest of each image tag.",
        ) from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise RequestError(f"{lock} must map tags to digests.", "Restore it from git, or remove it.")
    return found
