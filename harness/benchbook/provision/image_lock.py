"""The lock of images: tag -> digest of its first pull. A tag that moves later is refused, not followed."""

from __future__ import annotations

import json
import os
from pathlib import Path

from benchbook.declare.catalogue import root
from benchbook.errors import RequestError
from benchbook.provision.request import Request
from benchbook.record.folder import write_json

FILE = "images.lock.json"


def file(request: Request) -> Path:
    """Return the lock's file: beside the systems, to be committed with them; in the cache where that is read-only."""
    if request.image_lock is not None:
        return request.image_lock
    beside = root() / "systems"
    if os.access(beside, os.W_OK):
        return beside / FILE
    return request.cache_folder() / FILE


def locked(lock: Path, tag: str) -> str | None:
    """Return the digest that a tag is locked to, or None before its first pull."""
    return _read(lock).get(tag)


def add(lock: Path, tag: str, digest: str) -> None:
    """Lock a tag to the digest of its first pull."""
    write_json(lock, dict(sorted({**_read(lock), tag: digest}.items())))


def _read(lock: Path) -> dict[str, str]:
    try:
        found = json.loads(lock.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RequestError(
            f"{lock} cannot be read: {error}.", "Restore it from git, or remove it to lock anew."
        ) from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise RequestError(f"{lock} must map tags to digests.", "Restore it from git, or remove it.")
    return found
