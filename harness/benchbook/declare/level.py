"""Conversion and comparison of levels: TOML gives them a type, results and CSV files hold text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def text(level: object) -> str:
    """Return a level as text, as the results hold it.

    >>> text(5000), text(True)
    ('5000', 'true')
    """
    return str(level).lower() if isinstance(level, bool) else str(level)


def texts(levels: Mapping[str, object]) -> dict[str, str]:
    """Return levels by factor as text."""
    return {factor: text(level) for factor, level in levels.items()}


def listed(level: object) -> list[str]:
    """Return one level, or a list of them, as a list of texts."""
    return [text(one) for one in (level if isinstance(level, list) else [level])]


def same(a: object, b: object) -> bool:
    """Return whether two levels, each a text or a number, are the same.

    >>> same("5000", 5000), same("1.0", "1"), same("true", True)
    (True, True, True)
    """
    one, two = text(a), text(b)
    try:
        return one == two or float(one) == float(two)
    except ValueError:
        return False


_SIZES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def rank(level: str) -> tuple[float, str]:
    """Return a key that sorts numbers and sizes by their value, and other levels after them by their text.

    >>> sorted(["64KiB", "512B", "10000", "vanilla", "2500"], key=rank)
    ['512B', '2500', '10000', '64KiB', 'vanilla']
    """
    number = level.rstrip("KMGiB")
    try:
        return float(number) * _SIZES.get(level.removeprefix(number), 1), level
    except ValueError:
        return math.inf, level


def ordered(levels: Sequence[str]) -> list[str]:
    """Return levels in numeric order; unchanged if one of them is not a number."""
    try:
        return sorted(levels, key=float)
    except ValueError:
        return list(levels)
