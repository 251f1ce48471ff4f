"""Run a program to its end and return what it prints, within a time and a size."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from benchbook.process import interrupt, marks, strays
from benchbook.process.spawn import die_with_parent

MOST_BYTES = 16 << 20
"""Largest output of each stream: the longest that is needed, the log of an installation, has about 1 MB."""
PIPE_SECONDS = 1.0
"""Time to read the rest of the output after the program has ended: a process that it left may hold the pipe open."""
POLL_SECONDS = 0.05
READ_BYTES = 65536


class TooMuchOutput(OSError):
    """A program printed more than any answer needs."""

    def __init__(self, program: str, most_bytes: int) -> None:
        super().__init__(None, f"{program} printed more than {most_bytes >> 20} MiB and was ended")

    def __str__(self) -> str:
        return str(self.strerror)


def run(
    command: Sequence[str | Path],
    timeout_seconds: float | None,
    *,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    most_bytes: int = MOST_BYTES,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, with an empty stdin; raise OSError or TimeoutExpired.

    ``subprocess.run`` keeps any amount of output in memory. After its time limit it waits until all that hold
    the pipe have ended. Here the program and its group are killed in both cases, and the harness goes on.
    """
    words = [str(part) for part in command]
    until = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    mark = strays.mark()
    with interrupt.held():
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
            env={**(os.environ if env is None else env), marks.VARIABLE: mark},
            start_new_session=True, preexec_fn=die_with_parent(),  # noqa: PLW1509 - makes system calls only
        )  # fmt: skip
    strays.started(process.pid)
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = bytearray(), bytearray()
    try:
        for kept in _reads(process, {process.stdout: out, process.stderr: err}):
            if kept > most_bytes:
                raise TooMuchOutput(Path(words[0]).name, most_bytes)
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired(words, timeout_seconds or 0.0)
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.stderr.close()
        process.wait()
        strays.waited_for(process.pid)
        strays.end(lambda: strays.adopted(mark))
    return subprocess.CompletedProcess(
        words, process.returncode, out.decode(errors="replace"), err.decode(errors="replace")
    )


def _reads(process: subprocess.Popen[bytes], kept: Mapping[IO[bytes], bytearray]) -> Iterator[int]:
    """Read what the program prints into ``kept``; yield the larger size after each read, until it has ended."""
    ended: float | None = None
    with selectors.DefaultSelector() as waiting:
        for stream, content in kept.items():
            waiting.register(stream, selectors.EVENT_READ, content)
        while waiting.get_map() or ended is None:
            ready = waiting.select(POLL_SECONDS) if waiting.get_map() else []
            for key, _ in ready:
                part = os.read(key.fd, READ_BYTES)
                if part:
                    key.data.extend(part)
                else:
                    waiting.unregister(key.fileobj)
            yield max(map(len, kept.values()))
            ended = ended or (time.monotonic() if process.poll() is not None else None)
            if ended is None and not waiting.get_map():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(POLL_SECONDS)
            if ended is not None and not ready and time.monotonic() - ended > PIPE_SECONDS:
                return
