"""Read a TOML file as plain values, and report a missing, unreadable or malformed file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from benchbook.errors import RequestError, command


def load(path: Path, label: str | None = None) -> dict[str, Any]:
    """Return the content of ``path``, unchecked; raise RequestError if it is missing or malformed.

    Errors call the file ``label``. The function ignores a byte order mark, which some editors write.
    """
    shown = label or str(path)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise RequestError(
            f"{shown}: there is no such file.", f"`{command('list')}` shows what exists."
        ) from None
    except OSError as error:
        raise RequestError(f"{shown}: cannot read the file ({error.strerror}).") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        raise RequestError(
            f"{shown}: is not UTF-8 text (byte {byte:#04x} at line {line}).", "Save it as UTF-8."
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise RequestError(
            f"{shown}: is not valid TOML: {error}.", "Correct the file at that place."
        ) from None
