"""Passwords and keys: generated for one trial or set in the environment, never stored with a result.

Drivers generate passwords here, so that all of them are known. Before a trial is recorded, its files are searched for
them, because a server may log its environment and an error may contain the command line.
"""

from __future__ import annotations

import mmap
import os
import secrets
from pathlib import Path
from typing import Any

from benchbook.host import guarded

VARIABLES = (
    "PGPASSWORD",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "BENCHBOOK_ORACLE_PASSWORD",
    "BENCHBOOK_DOLPHINDB_PASSWORD",
)
"""Environment variables that hold the passwords of running servers."""
SHORTEST = 6
"""Minimum length of a password to redact: shorter ones may be part of other text."""
REPLACEMENT = "(password)"

_drawn: set[str] = set()


def draw(prefix: str = "", size_bytes: int = 16) -> str:
    """Return a new random password, which is redacted from now on."""
    made = f"{prefix}{secrets.token_hex(size_bytes)}"
    _drawn.add(made)
    return made


def known() -> list[str]:
    """Return every password that was generated or is set in the environment, longest first."""
    in_environment = {value for name in VARIABLES if len(value := os.environ.get(name, "")) >= SHORTEST}
    return sorted(_drawn | in_environment, key=lambda password: (-len(password), password))


def forget() -> None:
    """Forget the generated passwords, after the servers of a trial have stopped and its files are redacted."""
    _drawn.clear()


def redact_files(folder: Path) -> list[Path]:
    """Replace every known password in the files under a folder; return the changed files."""
    changed = []
    passwords = [password.encode() for password in known()]
    for path in map(Path, sorted(guarded.files_below(folder))) if passwords else ():
        if path.is_symlink() or not path.is_file() or path.stat().st_nlink != 1:
            continue  # a program may have linked a file of the user
        if _contains(path, passwords):
            content = path.read_bytes()
            for password in passwords:
                content = content.replace(password, REPLACEMENT.encode())
            path.write_bytes(content)
            changed.append(path)
    return changed


def _contains(path: Path, passwords: list[bytes]) -> bool:
    """Return whether a file contains one of the passwords; it may be larger than memory."""
    if path.stat().st_size < min(map(len, passwords)):
        return False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return any(content.find(password) >= 0 for password in passwords)


def redact(value: Any) -> Any:
    """Return a JSON value with every known password in its strings replaced."""
    if isinstance(value, str):
        for password in known():
            value = value.replace(password, REPLACEMENT)
        return value
    if isinstance(value, list):
        return [redact(item) for item in value]
    if isinstance(value, dict):
        return {redact(key): redact(item) for key, item in value.items()}
    return value
