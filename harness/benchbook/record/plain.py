"""Check values from JSON that somebody else may have written, so that no later stage meets what it cannot handle."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

DEEPEST = 100
"""Nesting of JSON; a declaration has less than 10 levels. Python itself stops at about 1,000."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs; raise ValueError if a key is there twice, of which readers choose one each."""
    held = dict(pairs)
    if len(held) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"it has the key {next(key for key in held if keys.count(key) > 1)[:60]!r} twice")
    return held


def require(value: Any) -> None:
    """Raise ValueError unless values are nested a little, finite, and text that can be written as UTF-8."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for held in level for inner in _inside(held)]
        if not level:
            return
    raise ValueError(f"it is nested more than {DEEPEST} levels deep")


def _inside(value: Any) -> Iterable[Any]:
    """Return what a value holds, after checking the value itself."""
    if isinstance(value, dict):
        return (*value.keys(), *value.values())
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        if not value.isascii():
            value.encode()  # half of a surrogate pair is a ValueError
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a number of JSON")
    return ()
