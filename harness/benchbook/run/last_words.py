"""The last words of what died in a trial, added to the failure that it caused."""

from __future__ import annotations

from collections.abc import Callable

from benchbook.errors import TrialFailed


def with_last_words(cause: str, error: TrialFailed, *alive: Callable[[], object]) -> str:
    """Return the failure after what is known to have caused it, with what server and storage said last.

    They are asked by ``alive``, and only one that has died says something.
    """
    words = str(error) if cause in str(error) else f"{cause} {error}"
    for ask in alive:
        try:
            ask()
        except TrialFailed as died:
            if str(died) not in words:
                words = f"{words} {died}"
    return words
