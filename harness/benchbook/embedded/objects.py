"""Objects of the dataset ``blob`` for a client in Python: where they come from, and which ones a store has to have.

They are benchload's, as every store gets them: its generator writes them as frames, from any number on.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchbook.embedded.failure import StreamBrokenError
from benchbook.systems.process import die_with_parent


@dataclass(frozen=True)
class Item:
    """One object."""

    number: int
    key: str
    content: bytes


class Objects(Protocol):
    """A connection of its own to a store of objects, for one thread. Every call may raise the engine's own errors."""

    def put(self, items: Sequence[Item]) -> None:
        """Put them in one transaction; they are committed when this returns."""
        ...

    def get(self, key: str) -> bytes | None:
        """Return the bytes of an object; None where there is none."""
        ...

    def delete(self, key: str) -> bool:
        """Delete an object; say whether there was one."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...


class Source:
    """The objects of a range of numbers, made as they are asked for, in order. Not for several threads at once."""

    def __init__(self, command: Sequence[str], first: int, end: int) -> None:
        """``command`` is benchload's generator with the dataset's flags; it makes none from ``end`` on."""
        self._number, self._end = first, end
        self._process: subprocess.Popen[bytes] | None = None
        if first < end:
            asked = [*command, f"--count={end}", f"--first={first}", "--workers=1"]
            self._process = subprocess.Popen(
                asked, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                bufsize=1 << 20, preexec_fn=die_with_parent(),  # noqa: PLW1509 - calls nothing but prctl
            )  # fmt: skip

    def __iter__(self) -> Iterator[Item]:
        """Return the objects that are still to come."""
        return self

    def __next__(self) -> Item:
        """Return the next object; raise StreamBrokenError where the generator has failed."""
        if self._number >= self._end:
            raise StopIteration
        assert self._process is not None
        assert self._process.stdout is not None
        key, _, size = self._process.stdout.readline().decode().partition(" ")
        content = self._process.stdout.read(int(size or 0) + 1)
        if not key or len(content) != int(size) + 1:
            raise StreamBrokenError(f"benchload generate blob ended before object {self._number}")
        self._number += 1
        return Item(self._number - 1, key, content[:-1])

    def close(self) -> None:
        """End the generator."""
        if self._process is not None:
            assert self._process.stdout is not None
            with contextlib.suppress(OSError):
                self._process.send_signal(signal.SIGKILL)
            self._process.stdout.close()
            self._process.wait()


def read_kept(file: Path) -> list[int]:
    """Return the numbers of the objects that a store has to have, in order; a file that is not there has none."""
    if not file.exists():
        return []
    return sorted(int(line.partition("\t")[0]) for line in file.read_text().splitlines())


def write_kept(file: Path, numbers: Sequence[int]) -> None:
    """Write them down, as benchload does."""
    new = file.with_name(f"{file.name}.new")
    new.write_text("".join(f"{number}\t\n" for number in sorted(numbers)))
    new.replace(file)
