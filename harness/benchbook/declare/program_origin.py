"""Origins of programs that users give by their paths: how somebody else gets the same program.

An origin of a run from elsewhere is foreign text. It is shown, and never executed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*", re.ASCII)
"""Name of an image; engines and tools take one that begins with ``-`` for an option."""
LONGEST = 300
FORMS = (
    "image NAME:TAG",
    "https://HOST/FILE",
    "package NAME VERSION",
    "built from TAG of REPOSITORY with TOOLCHAIN",
)
"""The forms of an origin, as help and errors show them."""
_PATTERN = re.compile(
    rf"image {IMAGE.pattern}|https?://\S+|package \S+ \S+( \S.*)?|built from \S+ of \S+ with \S.*", re.ASCII
)


_SECRET = re.compile(
    r"://[^/@\s]*:[^/@\s]*@|[?&][^=\s]*(signature|token|secret|password|credential)[^=\s]*=", re.IGNORECASE
)
"""A password, or a signed address: origins are published."""


def is_origin(text: object) -> bool:
    r"""Return whether a text has one of the ``FORMS``.

    >>> is_origin("image cnosdb/cnosdb:v2.0.1"), is_origin("package mysql 9.7.4 of conda-forge"), is_origin("my disk")
    (True, True, False)
    >>> is_origin("image a:1\n"), is_origin("image -v"), is_origin("built from v2.0.1 of https://x/y with rustc 1.67")
    (False, False, True)
    >>> is_origin("https://kim:secret@x/y"), is_origin("https://x/y?X-Amz-Signature=1"), is_origin("https://x/y?v=1")
    (False, False, True)
    """
    return (
        isinstance(text, str)
        and len(text) <= LONGEST
        and text.isprintable()
        and _PATTERN.fullmatch(text) is not None
        and _SECRET.search(text) is None
        and text not in FORMS
    )


def image_of(origin: str) -> str | None:
    """Return the image that an origin names, or None.

    >>> image_of("image redis:7"), image_of("https://example.org/redis.tar.gz")
    ('redis:7', None)
    """
    return origin.removeprefix("image ") if is_origin(origin) and origin.startswith("image ") else None


def lacks_origin(program: Mapping[str, Any]) -> bool:
    """Return whether a program of ``run.json`` was given by its path, and nothing states its origin.

    >>> lacks_origin({"source": "given", "path": "/opt/x"}), lacks_origin({"source": "host", "path": "/usr/bin/x"})
    (True, False)
    """
    elsewhere = any(program.get(key) for key in ("url", "image", "container"))
    by_path = program.get("source") == "given" and bool(program.get("path")) and not elsewhere
    return by_path and not is_origin(program.get("origin"))
