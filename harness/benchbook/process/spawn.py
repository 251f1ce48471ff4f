"""One started process: its own session, its log, its last lines, its end."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbook.errors import TrialFailed, Unavailable
from benchbook.process import confinement, leftovers

# A process and its descendants, as they are now.


def tree(pid: int) -> list[int]:
    """Return ``pid`` and all its descendants that run now."""
    found, seen = [pid], 0
    while seen < len(found):
        found += _children(found[seen])
        seen += 1
    return found


def _children(pid: int) -> list[int]:
    listings = list(Path(f"/proc/{pid}/task").glob("*/children"))
    if not listings and sys.platform != "linux":
        import psutil

        with contextlib.suppress(psutil.Error):
            return [child.pid for child in psutil.Process(pid).children()]
        return []
    children: list[int] = []
    for listing in listings:
        with contextlib.suppress(OSError):
            children += [int(number) for number in listing.read_text().split()]
    return children


# One started process of a system: its own session, its log, its last words, its end.
#
# Servers and workers must never outlive the harness. On Linux the kernel is asked to kill the process when
# the *thread* that started it ends (PR_SET_PDEATHSIG), so start processes from the main thread or from one
# that lives as long as the trial. Everywhere, a registered process is swept at the next start.

GRACE_SECONDS = 20.0
"""How long a process may take to stop in the ordinary way before it is killed."""

_PR_SET_PDEATHSIG = 1
# Loaded before any fork: a child between fork and exec must not import anything.
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent() -> Callable[[], None] | None:
    """Return what a child runs before exec so that the kernel kills it when its starter dies (Linux only)."""
    if _LIBC is None:
        return None
    prctl, parent = _LIBC.prctl, os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before we asked
            os._exit(1)

    return ask


def _before_exec(enter: Callable[[], None]) -> Callable[[], None]:
    end_with_us = die_with_parent()

    def prepare() -> None:
        if end_with_us is not None:
            end_with_us()
        enter()

    return prepare


@dataclass
class Running:
    """A process started by ``start``; it leads a session and process group of its own."""

    process: subprocess.Popen[bytes]
    words: str
    """What it is, for messages: ``InfluxDB``, ``the DuckDB worker``."""
    log: Path
    """Where its stderr (and stdout, where that is not a pipe) goes."""
    registry: Path | None = None
    """Folder in which it is registered for the sweep of leftovers."""

    @property
    def pid(self) -> int:
        """Its process id, which is also the id of its group."""
        return self.process.pid

    def ending(self) -> str | None:
        """Say how it ended (``exited with code 1``), or None while it runs. Does not reap it.

        An unreaped process keeps its number, so that stopping its group later cannot meet a stranger.
        """
        if self.process.returncode is not None:
            return _ending_words(self.process.returncode)
        if not hasattr(os, "waitid"):
            code = self.process.poll()
            return None if code is None else _ending_words(code)
        try:
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return "ended"
        if found is None:
            return None
        return _ending_words(found.si_status if found.si_code == os.CLD_EXITED else -found.si_status)

    def check(self) -> None:
        """Raise TrialFailed with its last words when it has died."""
        ending = self.ending()
        if ending is not None:
            raise TrialFailed(
                f"{self.words} {ending}. Its last words: {last_words(self.log)}",
                f"Its whole log is {self.log}.",
            )

    def tree(self) -> list[int]:
        """Process ids of it and its descendants now; empty when it has ended."""
        return [] if self.ending() is not None else tree(self.pid)

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of its standard output, where that is a pipe, until it ends."""
        assert self.process.stdout is not None
        yield from self.process.stdout

    def release(self, at: float | None = None) -> None:
        """Give it the line of standard input that it waits for, at a moment of the clock or now."""
        if at is not None:
            time.sleep(max(0.0, at - time.time()))
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # one that has ended says so by its lines
            self.process.stdin.write(b"\n")
            self.process.stdin.flush()

    def kill(self) -> None:
        """Kill the whole group at once, from any thread; ``stop`` must still be called."""
        if self.process.returncode is None:
            self._signal(signal.SIGKILL)

    def wait_ending(self, seconds: float) -> None:
        """Return when it has ended, or after ``seconds``."""
        deadline = time.monotonic() + seconds
        while self.ending() is None and time.monotonic() < deadline:
            time.sleep(0.002)

    def stop(
        self, grace_seconds: float = GRACE_SECONDS, first: signal.Signals | None = signal.SIGTERM
    ) -> None:
        """End the whole group: ``first`` (None: only wait), SIGKILL after ``grace_seconds``. Never raises."""
        if self.process.returncode is None:
            if first is not None and self.ending() is None:
                self._signal(first)
            self.wait_ending(grace_seconds)
            self._signal(signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=10)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        if self.registry is not None:
            with contextlib.suppress(OSError):
                leftovers.unregister(self.registry, self.pid)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def start(
    command: Sequence[str | Path],
    *,
    words: str,
    log: Path,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    registry: Path | None = None,
    pipes: bool = False,
) -> Running:
    """Start a process in a session of its own; raise TrialFailed when it cannot be.

    ``pipes`` makes stdin and stdout pipes (a worker); otherwise stdin is empty and stdout goes to
    the log, as stderr always does.
    ``environment`` is added to the harness's own. Where the engine has said so (``confinement.inside``), it is
    in a control group and on certain cores from its first instruction on.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        try:
            with confinement.entering() as enter:
                process = subprocess.Popen(
                    [str(part) for part in command],
                    stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                    stdout=subprocess.PIPE if pipes else output,
                    stderr=output,
                    cwd=cwd,
                    env={**os.environ, **(environment or {})},
                    start_new_session=True,
                    preexec_fn=_before_exec(enter),  # noqa: PLW1509 - makes system calls only
                )
        except (OSError, subprocess.SubprocessError) as error:
            reason = getattr(error, "strerror", None) or error
            raise TrialFailed(
                f"{words} could not be started: {reason} ({shlex.join(map(str, command))}).",
                "Check that the program exists and is executable on this machine.",
            ) from error
    running = Running(process, words, log, registry)
    if registry is not None:
        try:
            leftovers.register(registry, process.pid, words)
        except OSError as error:
            running.stop(first=signal.SIGKILL)
            raise TrialFailed(
                f"{registry} cannot be written: {error.strerror}.", "Free it or make it writable."
            ) from error
    return running


def last_words(log: Path, lines: int = 8, limit: int = 2000) -> str:
    """Return the last lines of a log on one line, or ``(it said nothing)``."""
    try:
        with log.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 16384))
            tail = file.read().decode(errors="replace")
    except OSError:
        tail = ""
    found = [line.strip() for line in tail.splitlines() if line.strip()][-lines:]
    return " | ".join(found)[-limit:] or "(it said nothing)"


def _ending_words(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"


def find_benchload() -> Path:
    """Return the path of the binary; raise Unavailable with the next step where there is none."""
    given = os.environ.get("BENCHBOOK_BENCHLOAD") or shutil.which("benchload")
    if given and Path(given).is_file():
        return Path(given)
    raise Unavailable(
        "The load tool benchload is not built: BENCHBOOK_BENCHLOAD names no file and it is not on PATH.",
        "Start Benchbook with ./bench or with Nix; both build it.",
    )
