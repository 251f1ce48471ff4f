"""Refuse to write a report over what is not a report of Benchbook."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from benchbook.errors import RequestError
from benchbook.host import guarded
from benchbook.report.data import COLUMNS

GENERATOR = "Benchbook"
"""Name in the head of a page, and in the metadata of a notebook."""
_HEAD_BYTES = 1024
"""The head of a page names its generator within these."""


def require_replaceable(paths: Iterable[Path], *, named: bool) -> None:
    """Raise RequestError if something is in the place of a file of a report that must not be replaced.

    That is whatever is not a regular file, such as a folder, a link or a device. If the user ``named`` the place, it is
    also a file that Benchbook did not write; in the folder of a run, all files of a report are Benchbook's.
    """
    for path in paths:
        if path.name in ("", ".."):
            raise RequestError(f"{path} is not the name of a file.", "Name a file: --output FILE.")
        try:
            held = guarded.kind(path.lstat().st_mode)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise RequestError(
                f"{str(path)[:200]!r} cannot be written: {error}.", "Name another file: --output FILE."
            ) from error
        if held is not None:
            raise RequestError(
                f"{path} is {held}, not a file. Nothing was written.", "Name another file: --output FILE."
            )
        if named and not _is_of_a_report(path):
            raise RequestError(
                f"{path} is not a report of Benchbook, and is not replaced. Nothing was written.",
                "Move it, or name another file: --output FILE.",
            )


def _is_of_a_report(path: Path) -> bool:
    try:
        with guarded.regular(path) as file:
            head = file.read(_HEAD_BYTES)
        if head.startswith(f"{','.join(COLUMNS)}".encode()):
            return True
        if f'<meta name="generator" content="{GENERATOR}">'.encode() in head:
            return True
        if not head.startswith(b"{"):
            return False
        found = json.loads(guarded.contents(path, guarded.RESULT_BYTES))
        return bool(found.get("metadata", {}).get("generator") == GENERATOR)
    except (OSError, ValueError, AttributeError, RecursionError):
        return False
