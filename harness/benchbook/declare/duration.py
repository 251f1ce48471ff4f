"""Lengths of time as people write them (``10s``, ``1m30s``), as benchload reads them too."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

_UNIT_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)")


def seconds(text: str) -> float:
    """Return the length of ``text`` in seconds; raise ValueError where it is not a duration above zero.

    >>> seconds("1m30s")
    90.0
    """
    whole = re.fullmatch(f"(?:{_PART.pattern})+", text)
    if not whole:
        raise ValueError(f'"{text}" is not a duration; write a number and a unit, such as "10s" or "1m30s"')
    total = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _PART.findall(text))
    if total <= 0:
        raise ValueError(f'"{text}" is not above zero')
    return total


def _checked(text: str) -> str:
    seconds(text)
    return text


Duration = Annotated[str, AfterValidator(_checked)]
"""A length of time above zero, kept as it was written."""
