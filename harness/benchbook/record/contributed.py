"""The name that the contributor of a run gives to its machine; the manifest of the published run states it."""

from __future__ import annotations

import re

from benchbook.errors import RequestError

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
LONGEST = 64
RULE = "lower-case letters, digits and single hyphens between them, such as lab-epyc-64"


def is_name(value: object) -> bool:
    """Return whether a value is the name of a machine."""
    return isinstance(value, str) and len(value) <= LONGEST and bool(NAME.fullmatch(value))


def require_name(name: str) -> str:
    """Return the name of a machine; raise RequestError with the nearest valid name if it is invalid.

    >>> require_name("lab-2")
    'lab-2'
    """
    if is_name(name):
        return name
    near = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "my-machine"
    raise RequestError(
        f'"{name}" is not the name of a machine: it must have only {RULE}.', f'Did you mean "{near}"?'
    )
