"""The mistakes and failures that Benchbook tells its user about, in whole sentences.

Every error a user can meet is one of these. The command line prints ``message`` and, on a line of
its own, ``hint`` (the next step); it never prints a traceback for one of them.
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


class BenchbookError(Exception):
    """A failure with words for the user.

    ``message`` says what was found and what is allowed; ``hint`` is the next step to take.
    ``exit_code`` is what the process ends with.
    """

    exit_code = 2

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Message and hint in one line; words of another program that end the message may lack a full stop."""
        return f"{sentence(self.message)} {self.hint}" if self.hint else self.message


class RequestError(BenchbookError):
    """The request cannot be carried out as asked: an unknown name, a value out of range, a bad file."""


class Unavailable(BenchbookError):
    """A system, storage or program cannot be had here: its trials are recorded as ``skipped``."""


class TrialFailed(BenchbookError):
    """A trial did not come to its end: it is recorded as ``failed`` with this message."""

    exit_code = 4


class TrialInvalid(BenchbookError):
    """A trial ended but its result may not be used: it is recorded as ``invalid``."""

    exit_code = 4


def sentence(words: str) -> str:
    """Return words with the full stop that they may lack.

    >>> sentence("there is none"), sentence("which one?")
    ('there is none.', 'which one?')
    """
    return words if words.endswith((".", "!", "?", ":")) else f"{words}."


def nearest(name: str, allowed: Iterable[str]) -> str | None:
    """Return the allowed name most like ``name``, or None where nothing is alike.

    >>> nearest("quickstrat", ["quickstart", "aa"])
    'quickstart'
    """
    candidates = {candidate.lower(): candidate for candidate in allowed}
    close = difflib.get_close_matches(name.lower(), list(candidates), n=1, cutoff=0.5)
    return candidates[close[0]] if close else None


def meant(name: str, allowed: Iterable[str]) -> str:
    """Return the question for the allowed name most like ``name``, to end a clause with; nothing where none is alike.

    >>> meant("laod", ["load", "query"])
    '; did you mean "load"?'
    """
    guess = nearest(name, allowed)
    return f'; did you mean "{guess}"?' if guess else ""


def unknown(kind: str, name: str, allowed: Iterable[str], where: str | None = None) -> RequestError:
    """Return the error for a name that is none of ``allowed``, naming the nearest valid one."""
    names = sorted(allowed)
    place = f"{where}: " if where else ""
    guess = nearest(name, names)
    meant = f'Did you mean "{guess}"?' if guess else "Use one of these names."
    listing = ", ".join(names) if names else "none exist yet"
    return RequestError(f'{place}there is no {kind} "{name}"; allowed: {listing}.', meant)
