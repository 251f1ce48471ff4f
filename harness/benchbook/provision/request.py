"""What provision is asked with, and what a source answers when it cannot give the system."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchbook.host.filesystem import cache_folder


def _silent(words: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Request:
    """How systems may be obtained on this machine. Everything has a default."""

    given: Mapping[str, str] = field(default_factory=dict)
    """``--system NAME=PATH-or-URL``: system name → path of a program or URL of a running server."""
    go: Path | None = None
    """The ``go`` command for systems built from a Go module; None takes the one on PATH."""
    cache: Path | None = None
    """Folder for what is built; None takes ``$BENCHBOOK_CACHE``, else ``~/.cache/benchbook`` (XDG)."""
    image_lock: Path | None = None
    """File that locks tags of images to digests; None takes ``systems/images.lock.json``."""
    progress: Callable[[str], None] = _silent
    """Called with words, at most about once a second, while something takes long."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """Environment variables: PATH, BENCHBOOK_NIX_SYSTEMS, BENCHBOOK_CACHE, XDG_CACHE_HOME, HOME."""

    def cache_folder(self) -> Path:
        """Return the folder of the cache, which need not exist yet."""
        return self.cache if self.cache is not None else cache_folder(self.environment)


@dataclass(frozen=True)
class Missing:
    """A source that was asked and cannot give the system."""

    words: str
    """What was looked for and where, as part of a sentence."""
    command: str | None = None
    """A command that would make this source work, where there is one."""
