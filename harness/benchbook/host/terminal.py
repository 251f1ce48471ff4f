r"""Standard output and error of a command: printing never fails it, and no foreign text controls the terminal.

Messages of servers, ids of runs and names of files come from others. A terminal takes some characters in them for
commands, which move the cursor, hide text, or set the title and the clipboard. They are printed as ``\u001b``, also
into pipes and files, whose content reaches a terminal later. In JSON this means the same character.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO, cast

BOLD, NORMAL = "\x1b[1m", "\x1b[0m"
"""The only commands to a terminal that pass; foreign text that contains them is bold."""
_COMMANDS = re.compile(
    r"(?!\x1b\[[01]m)"
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters except tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # these reverse the direction of text
    "\u2028\u2029"  # these separate lines
    "\ud800-\udfff]"  # bytes of a file name that are not UTF-8
)


def visible(text: str) -> str:
    r"""Return ``text`` with every character that could control a terminal as an escape sequence of JSON.

    >>> visible("ok\x1b[2Jfailed\r")
    'ok\\u001b[2Jfailed\\u000d'
    """
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Quiet:
    """A stream of text that never raises OSError: after its first failure, what is printed is dropped."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.failure: OSError | None = None

    def write(self, text: str) -> int:
        """Write the text, unless the stream has failed."""
        if self.failure is None:
            try:
                self._stream.write(text)
            except OSError as error:
                self._give_up(error)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Pass on what was written, unless the stream has failed."""
        if self.failure is None:
            try:
                self._stream.flush()
            except OSError as error:
                self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Send what is buffered, and what other programs print on the same descriptor, to nowhere."""
        self.failure = error
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Visible(Quiet):
    """A quiet stream that prints control characters visibly."""

    def write(self, text: str) -> int:
        """Write the text as ``visible`` returns it."""
        return super().write(visible(text))


class VisibleBesideRich(Visible):
    """A visible stream whose live line rich draws: rich's cursor movements pass, under the name that it looks for."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self.rich_proxied_file = Quiet(stream)


def open_closed_streams() -> None:
    """Open ``/dev/null`` in place of each standard stream that the caller has closed.

    Otherwise the next file that is opened gets its descriptor, and what is printed goes into that file.
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != descriptor:
                os.dup2(nowhere, descriptor)
                os.close(nowhere)
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Print through ``Visible`` streams in the ``with`` block; a block inside another one changes nothing."""
    if isinstance(sys.stdout, Visible):
        yield
        return
    before = sys.stdout, sys.stderr
    for stream in before:
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")  # an encoding such as ASCII lacks most characters
    sys.stdout = cast("TextIO", Visible(sys.stdout))
    sys.stderr = cast("TextIO", VisibleBesideRich(sys.stderr))
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = before


def failure_of_output() -> OSError | None:
    """Return why standard output could not be written; None if it was."""
    sys.stdout.flush()
    return getattr(sys.stdout, "failure", None)


def is_closed_pipe(failure: OSError) -> bool:
    """Return whether the reader of a pipe closed it, such as ``head``, which has all that it wants."""
    return failure.errno == errno.EPIPE
