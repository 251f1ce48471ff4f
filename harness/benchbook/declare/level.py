"""Conversion and comparison of levels: TOML gives them a type, results and CSV files hold text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

Setting = str | int | float | bool
"""One value of a configuration, a factor or an option."""


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


def natural(text: str) -> list[tuple[int, float, str]]:
    """Return a sort key that puts batch_size=5000 after batch_size=500, and 64KiB after 4KiB.

    >>> sorted(["64KiB", "4KiB", "10000", "vanilla", "2500"], key=natural)
    ['4KiB', '64KiB', '2500', '10000', 'vanilla']
    """
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return [(0, float(part), "") if number % 2 else (1, 0.0, part) for number, part in enumerate(parts)]


_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kMG]?B|[KMG]iB)")


def amount(level: str) -> float | None:
    """Return a level that is a number, a size or a duration as a number; None for any other. ``none`` is no limit.

    >>> amount("0.5"), amount("2KiB"), amount("1m30s"), amount("none"), amount("vanilla")
    (0.5, 2048.0, 90.0, inf, None)
    """
    from benchbook.declare import duration  # imports pydantic

    if level == "none":
        return math.inf
    if size := _SIZE.fullmatch(level):
        return float(size[1]) * _BYTES[size[2]]
    for read in (float, duration.seconds):
        try:
            return read(level)
        except ValueError:
            continue
    return None


def ordered(levels: Sequence[str]) -> list[str]:
    """Return levels by their amounts; raise ValueError if one of them has none."""
    amounts = {level: amount(level) for level in levels}
    if without := [level for level, held in amounts.items() if held is None]:
        raise ValueError(
            f'its level "{without[0]}" is not a number, a size or a duration, so the levels have no order'
        )
    return sorted(levels, key=lambda level: amounts[level] or 0.0)
