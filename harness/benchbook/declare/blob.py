"""Parameters of the ``blob`` generator: small objects that cannot be compressed."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from benchbook.declare.model import Model, Positive

_UNITS = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = re.compile(r"(\d+)(B|KiB|MiB|GiB|)")
_MOST = 2**30
_MOST_DEVIATION = 4.0


def size(text: str) -> int:
    """Return the bytes of ``text``; raise ValueError where it is not a size from 1B to 1GiB.

    >>> size("4KiB")
    4096
    """
    whole = _SIZE.fullmatch(text)
    number = int(whole[1]) * _UNITS[whole[2]] if whole else 0
    if not 1 <= number <= _MOST:
        raise ValueError(f'"{text}" is not a size from 1B to 1GiB; write one such as "512B" or "4KiB"')
    return number


def _law(text: str) -> str:
    match text.split(":"):
        case [fixed]:
            size(fixed)
        case ["uniform", least, most]:
            if size(most) < size(least):
                raise ValueError(f'"{most}" is below "{least}" in "{text}"')
        case ["lognormal", median, deviation]:
            size(median)
            _deviation(deviation)
        case _:
            raise ValueError(
                f'"{text}" is not a law of sizes; write "4KiB", "uniform:1KiB:16KiB" or "lognormal:4KiB:1"'
            )
    return text


def _deviation(text: str) -> None:
    if not re.fullmatch(r"\d+(\.\d+)?", text) or not 0 < float(text) <= _MOST_DEVIATION:
        raise ValueError(f'"{text}" is not a deviation above 0 and up to 4')


Law = Annotated[str, AfterValidator(_law)]
"""A law of sizes: ``4KiB``, ``uniform:1KiB:16KiB``, or ``lognormal:4KiB:1`` (median, deviation of the logarithm)."""


class BlobParameters(Model):
    """Number and sizes of the objects of a blob dataset."""

    count: Positive
    """Objects."""
    size: Law
    """Size of each, or the law that their sizes follow."""

    def rows(self) -> int:
        """Return the number of objects."""
        return self.count

    def flags(self) -> list[str]:
        """Return benchload's flags for these parameters, without the seed."""
        return [f"--count={self.count}", f"--size={self.size}"]
