"""Passwords and keys: drawn for one trial or given in the environment, and never kept with a result.

Whoever needs one draws it here, so that all are known. What a trial leaves behind is searched for them before the
trial exists: a server may print its environment, an error its whole command.
"""

from __future__ import annotations

import mmap
import os
import secrets
from pathlib import Path
from typing import Any

GIVEN = (
    "PGPASSWORD",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "BENCHBOOK_ORACLE_PASSWORD",
    "BENCHBOOK_DOLPHINDB_PASSWORD",
)
"""Variables of the environment that hold passwords to servers which run already."""
SHORTEST = 6
"""Letters of a given password below which it cannot be told from other text."""
STANDS = "(password)"
"""What stands in the place of one."""

_drawn: set[str] = set()


def draw(prefix: str = "", size_bytes: int = 16) -> str:
    """Return a new password that nobody knows; from here on nothing that holds it is kept."""
    made = f"{prefix}{secrets.token_hex(size_bytes)}"
    _drawn.add(made)
    return made


def known() -> list[str]:
    """Return every password that this process has drawn or was given, the longest first."""
    given = {value for name in GIVEN if len(value := os.environ.get(name, "")) >= SHORTEST}
    return sorted(_drawn | given, key=lambda one: (-len(one), one))


def forget() -> None:
    """Forget what was drawn: the servers of that trial are gone, and what is kept of it was searched."""
    _drawn.clear()


def take_out(folder: Path) -> list[Path]:
    """Replace every known password in the files under a folder; return the files that held one."""
    found = []
    sought = [one.encode() for one in known()]
    for path in sorted(folder.rglob("*")) if sought else ():
        if path.is_symlink() or not path.is_file():
            continue
        if _holds(path, sought):
            content = path.read_bytes()
            for one in sought:
                content = content.replace(one, STANDS.encode())
            path.write_bytes(content)
            found.append(path)
    return found


def _holds(path: Path, sought: list[bytes]) -> bool:
    """Say whether a file holds one of them; records of single operations can be larger than the memory."""
    if path.stat().st_size < min(map(len, sought)):
        return False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return any(content.find(one) >= 0 for one in sought)


def without(value: Any) -> Any:
    """Return a JSON value with every known password in its texts replaced."""
    if isinstance(value, str):
        for one in known():
            value = value.replace(one, STANDS)
        return value
    if isinstance(value, list):
        return [without(one) for one in value]
    if isinstance(value, dict):
        return {without(key): without(one) for key, one in value.items()}
    return value
