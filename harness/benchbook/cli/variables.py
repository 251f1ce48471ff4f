"""Environment variables that Benchbook or its libraries read: check them before a command starts.

A wrong one would otherwise fail late: in the middle of a run, or as the panic of a library.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbook.errors import RequestError


@dataclass(frozen=True)
class _Form:
    """What a variable may hold."""

    allowed: str
    holds: Callable[[str], bool]


def _is_seconds(text: str) -> bool:
    try:
        return 0 < float(text) < math.inf
    except ValueError:
        return False


def is_text(given: str) -> bool:
    """Return whether an argument or a variable is UTF-8 text: Python shows other bytes as halves of surrogate pairs."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text[:9]) > 0 and len(text) < 6


def _is_folder_or_new(text: str) -> bool:
    return is_text(text) and (not os.path.exists(text) or os.path.isdir(text))  # noqa: PTH110, PTH112


_SECONDS = _Form("a number of seconds above 0", _is_seconds)
_COUNT = _Form("a whole number from 1 to 99999", _is_count)
_FILE = _Form("an existing file", os.path.isfile)
_FOLDER = _Form("a folder, existing or new, with a path in UTF-8", _is_folder_or_new)
_FORMS = {
    "BENCHBOOK_HANG_SECONDS": _SECONDS,
    "BENCHBOOK_BENCHLOAD": _FILE,
    "BENCHBOOK_CACHE": _FOLDER,
    "BENCHBOOK_REGISTRY": _Form("HOST[:PORT][/PATH]", lambda text: text.isprintable() and " " not in text),
    "BENCHBOOK_ROOT": _Form(
        "a checkout of Benchbook, with a folder `experiments`",
        lambda text: (Path(text) / "experiments").is_dir(),
    ),
    "BENCHBOOK_PROJECT": _Form(
        "a project, which is a folder with benchbook.toml",
        lambda text: (Path(text) / "benchbook.toml").is_file(),
    ),
    "XDG_CACHE_HOME": _FOLDER,
    **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), _FOLDER),
    "POLARS_MAX_THREADS": _COUNT,
}


def require() -> None:
    """Raise RequestError for the first variable that is set, not empty, and has another form."""
    for name, form in _FORMS.items():
        value = os.environ.get(name)
        if value and not form.holds(value):
            raise RequestError(
                f"The environment variable {name} is {value!r}; allowed: {form.allowed}.",
                f"Correct it, or remove it: unset {name}",
            )


def require_text(argv: Sequence[str]) -> None:
    """Raise RequestError for the first argument of a command line that is not UTF-8 text."""
    for before, given in zip(("", *argv), argv, strict=False):
        if not is_text(given):
            option = f"{before} " if before.startswith("--") and "=" not in before else ""
            raise RequestError(
                f"{option}{ascii(given)[1:-1][:60]} is not UTF-8 text.",
                "Name another file or folder, or write the text in UTF-8.",
            )
