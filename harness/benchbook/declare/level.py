"""Levels as they meet each other: from TOML with a type, from the results and from CSV as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def text(level: object) -> str:
    """Return a level as the results hold it.

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
    """Say whether two levels, given as text or number, are the same.

    >>> same("5000", 5000), same("1.0", "1"), same("true", True)
    (True, True, True)
    """
    one, two = text(a), text(b)
    try:
        return one == two or float(one) == float(two)
    except ValueError:
        return False


def ordered(levels: Sequence[str]) -> list[str]:
    """Return levels in the order of their numbers; as they are where one is no number."""
    try:
        return sorted(levels, key=float)
    except ValueError:
        return list(levels)
