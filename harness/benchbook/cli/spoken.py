"""Commands in messages, said as the user said them: ``./bench``, ``bench`` or ``nix run .#benchbook --``.

Every message is written with ``bench``; where it is shown on a terminal, the name that this process was called by
stands in its place, so that a hint can be copied as it is.
"""

from __future__ import annotations

import os
import re

VARIABLE = "BENCHBOOK_COMMAND"
"""Environment variable with the words by which Benchbook was called; ./bench and the flake set it."""

_COMMANDS = (
    "list", "show", "plan", "run", "resume", "report", "rerun", "claims", "compare", "aa", "sql", "export", "import",
    "site", "rebuild", "doctor", "help", "test", "dask", "benchload",
)  # fmt: skip
_COMMAND = re.compile(rf"(?<![\w./#-])(?:\./)?bench(?:book)?(?= (?:{'|'.join(_COMMANDS)})\b)")


def name() -> str:
    """Return what the user calls Benchbook by."""
    return os.environ.get(VARIABLE) or "bench"


def spoken(text: str) -> str:
    """Return ``text`` with the commands in it as the user would type them.

    >>> os.environ[VARIABLE] = "./bench"
    >>> spoken("Start one with: bench run quickstart")
    'Start one with: ./bench run quickstart'
    >>> del os.environ[VARIABLE]
    """
    called = name()
    return _COMMAND.sub(lambda _: called, text)
