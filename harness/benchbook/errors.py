"""Errors for the user: a message that says what is wrong and a hint that says what to do.

The command line prints ``message`` and, on the next line, ``hint``. It prints no traceback for these errors.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable

COMMAND_VARIABLE = "BENCHBOOK_COMMAND"
"""Environment variable with the command that started Benchbook; ./bench and the flake set it."""


def command(arguments: str = "") -> str:
    """Return a Benchbook command as the user types it: ``./bench run quickstart``, for a hint that can be copied.

    >>> os.environ[COMMAND_VARIABLE] = "./bench"
    >>> command("run quickstart"), command()
    ('./bench run quickstart', './bench')
    >>> del os.environ[COMMAND_VARIABLE]
    """
    return f"{os.environ.get(COMMAND_VARIABLE) or 'bench'} {arguments}".rstrip()


MOST_LISTED = 30
"""An error lists so many allowed names at most; of more, it lists the nearest."""
NEAREST_LISTED = 5


class BenchbookError(Exception):
    """A failure that the user can understand and act on.

    ``message`` names what was found and what is allowed; ``hint`` is the next step. The process ends with
    ``exit_code``.
    """

    exit_code = 2

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Return message and hint on one line; a message that ends with another program's text may lack a full stop."""
        return f"{sentence(self.message)} {self.hint}" if self.hint else self.message


class RequestError(BenchbookError):
    """The request is invalid: an unknown name, a value out of range, a bad file."""


class Unavailable(BenchbookError):
    """A system, storage or program is unavailable here: its trials are recorded as ``skipped``."""


class TrialFailed(BenchbookError):
    """A trial did not finish: it is recorded as ``failed`` with this message."""

    exit_code = 4


class TrialInvalid(BenchbookError):
    """A trial finished but its result is unusable: it is recorded as ``invalid``."""

    exit_code = 4


def sentence(text: str) -> str:
    """Return the text with a full stop, unless it ends with punctuation.

    >>> sentence("there is none"), sentence("which one?")
    ('there is none.', 'which one?')
    """
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."


def nearest(name: str, allowed: Iterable[str]) -> str | None:
    """Return the allowed name closest to ``name``, or None if none is similar.

    >>> nearest("quickstrat", ["quickstart", "aa"])
    'quickstart'
    """
    candidates = {candidate.lower(): candidate for candidate in allowed}
    close = difflib.get_close_matches(name.lower(), list(candidates), n=1, cutoff=0.5)
    return candidates[close[0]] if close else None


def suggestion(name: str, allowed: Iterable[str]) -> str:
    """Return a question with the allowed name closest to ``name``, to append to a message; empty if none is similar.

    >>> suggestion("laod", ["load", "query"])
    '; did you mean "load"?'
    """
    guess = nearest(name, allowed)
    return f'; did you mean "{guess}"?' if guess else ""


def unknown(kind: str, name: str, allowed: Iterable[str], where: str | None = None) -> RequestError:
    """Return the error for a name that is not in ``allowed``, with the closest valid name."""
    names = sorted(allowed)
    there = f"{where}: there" if where else "There"
    guess = nearest(name, names)
    hint = f'Did you mean "{guess}"?' if guess else "Use one of these names."
    if len(names) > MOST_LISTED:
        close = difflib.get_close_matches(name.lower(), names, NEAREST_LISTED, cutoff=0)
        allowed = f"of {len(names)}, the nearest are {', '.join(close)}"
    else:
        allowed = f"allowed: {', '.join(names) if names else 'none exist yet'}"
    return RequestError(f'{there} is no {kind} "{name}"; {allowed}.', hint)
