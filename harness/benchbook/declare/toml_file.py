"""Read a TOML file as plain values, and report a missing, unreadable or malformed file."""

from __future__ import annotations

import functools
import pickle
import tomllib
from pathlib import Path
from typing import Any

from benchbook.errors import RequestError, command
from benchbook.host import guarded

DEEPEST = 50
"""Levels of tables and lists in a declaration. Python itself stops at about 1,000."""

LARGEST_BYTES = 4 << 20
"""Limit of a declaration; the largest has 21 KB."""


def load(path: Path, label: str | None = None) -> dict[str, Any]:
    """Return the content of ``path``, unchecked; raise RequestError if it is missing or malformed.

    Errors call the file ``label``. The function ignores a byte order mark, which some editors write.
    """
    shown = label or str(path)
    try:
        text = guarded.contents(path, LARGEST_BYTES).decode("utf-8-sig").replace("\r\n", "\n")
        found: dict[str, Any] = pickle.loads(_parsed(text))  # noqa: S301 - of this process
        return found
    except FileNotFoundError:
        raise RequestError(
            f"{shown}: there is no such file.", f"`{command('list')}` shows what exists."
        ) from None
    except OSError as error:
        raise RequestError(f"{shown}: cannot read the file ({error.strerror or error}).") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        raise RequestError(
            f"{shown}: is not UTF-8 text (byte {byte:#04x} at line {line}).", "Save it as UTF-8."
        ) from None
    except RecursionError:
        raise RequestError(
            f"{shown}: is nested too deep: lists and tables within each other, more than {DEEPEST} levels.",
            "Correct the file; declarations need less than 10 levels.",
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise RequestError(
            f"{shown}: is not valid TOML: {error}.", "Correct the file at that place."
        ) from None
    except ValueError:  # Python parses at most 4,300 digits
        raise RequestError(f"{shown}: holds a number of thousands of digits.", "Correct the file.") from None


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> bytes:
    """Return the values of a TOML text, pickled: a page asks for the same declaration hundreds of times.

    Whoever changes the values changes a copy of them.
    """
    found = tomllib.loads(text)
    _require_flat(found)
    return pickle.dumps(found)


def _require_flat(value: Any) -> None:
    """Raise RecursionError for values that are nested deeper than any declaration needs."""
    level = [value]
    for _ in range(DEEPEST):
        inner = [
            one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)
        ]
        level = [held for values in inner for held in values]
        if not level:
            return
    raise RecursionError
