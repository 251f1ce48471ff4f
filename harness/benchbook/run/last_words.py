"""The last words of what died in a trial, added to the failure that it caused."""

from __future__ import annotations

from collections.abc import Callable

from benchbook.errors import TrialFailed


def with_last_words(error: TrialFailed, *alive: Callable[[], object]) -> str:
    """Return the failure, with what server and storage said last where one of them has died of it."""
    words = str(error)
    for ask in alive:
        try:
            ask()
        except TrialFailed as died:
            if str(died) not in words:
                words = f"{words} {died}"
    return words
