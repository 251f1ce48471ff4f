"""Durations as people and benchload write them: ``10s``, ``1m30s``."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

_UNIT_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)")


def seconds(text: str) -> float:
    """Return a duration in seconds; raise ValueError unless it is a duration above zero.

    >>> seconds("1m30s")
    90.0
    """
    whole = re.fullmatch(f"(?:{_PART.pattern})+", text)
    if not whole:
        raise ValueError(f'"{text}" is not a duration; write a number and a unit, such as "10s" or "1m30s"')
    total = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _PART.findall(text))
    if total <= 0:
        raise ValueError(f'"{text}" is zero; write a duration above zero')
    return total


def _checked(text: str) -> str:
    seconds(text)
    return text


Duration = Annotated[str, AfterValidator(_checked)]
"""A duration above zero, kept as the declaration writes it."""
