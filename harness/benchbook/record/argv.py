"""The words of a command that a run records: its options with their values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple


class Part(NamedTuple):
    """An option with its value, or one other word."""

    option: str
    """Empty for a word that is none of the options that were asked for."""
    value: str
    words: list[str]
    """How it was typed: ``["--set", "a=1"]`` or ``["--set=a=1"]``."""


def parts(words: Iterable[str], options: Collection[str]) -> Iterator[Part]:
    """Yield the parts of a command in order; ``options`` are those that take a value.

    >>> [tuple(one) for one in parts(["x", "--set", "a=1", "--set=b=2"], ["--set"])]
    [('', '', ['x']), ('--set', 'a=1', ['--set', 'a=1']), ('--set', 'b=2', ['--set=b=2'])]
    """
    left = iter(words)
    for word in left:
        option, equals, value = word.partition("=")
        if option not in options:
            yield Part("", "", [word])
        elif equals:
            yield Part(option, value, [word])
        else:
            after = [one for one in [next(left, None)] if one is not None]
            yield Part(option, "".join(after), [word, *after])


def without(words: Iterable[str], option: str) -> list[str]:
    """Return the words of a command without an option and its value.

    >>> without(["x", "--results", "a", "--results=b", "y"], "--results")
    ['x', 'y']
    """
    return [word for one in parts(words, [option]) if not one.option for word in one.words]
