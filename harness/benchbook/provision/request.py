"""The request for a system, and the reason why a source cannot provide it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchbook.host.filesystem import cache_folder


def _silent(text: str) -> None:
    """Ignore a progress message."""


@dataclass(frozen=True)
class Request:
    """Ways to obtain systems on this machine; everything has a default."""

    given: Mapping[str, str] = field(default_factory=dict)
    """``--system NAME=PATH-or-URL``: system name → path of a program or URL of a running server."""
    go: Path | None = None
    """The ``go`` command for systems built from a Go module; None means the one on PATH."""
    cache: Path | None = None
    """Folder for built programs; None means ``$BENCHBOOK_CACHE``, else ``~/.cache/benchbook`` (XDG)."""
    image_lock: Path | None = None
    """File that locks tags of images to digests; None means ``systems/images.lock.json``."""
    progress: Callable[[str], None] = _silent
    """Called with a message, at most about once per second, during slow operations."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """Environment variables: PATH, BENCHBOOK_NIX_SYSTEMS, BENCHBOOK_CACHE, XDG_CACHE_HOME, HOME."""

    def cache_folder(self) -> Path:
        """Return the cache folder, which need not exist yet."""
        return self.cache if self.cache is not None else cache_folder(self.environment)


@dataclass(frozen=True)
class Missing:
    """Why a source cannot provide the system."""

    reason: str
    """Searched names and places, as part of a sentence."""
    command: str | None = None
    """A command that would make this source work, if there is one."""
