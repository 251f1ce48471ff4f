"""Start a process, watch it, and end it with all that it started.

Servers and workers must never outlive the harness. On Linux the kernel kills a process when the *thread* that started
it ends (PR_SET_PDEATHSIG), so start processes from the main thread or from one that lives as long as the trial. On
every platform the next start sweeps the processes that a killed harness registered.
"""

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

import benchbook
from benchbook.errors import TrialFailed, Unavailable
from benchbook.measure.usage import children
from benchbook.process import confinement, interrupt, leftovers, marks, strays
from benchbook.process.wait import until

GRACE_SECONDS = 20.0
"""Time that a process may take to stop after a signal before it is killed."""

KILL_SECONDS = 5.0
"""Time that processes which left the tree of a stopped program may take to end after each signal."""

_PR_SET_PDEATHSIG = 1
# Load it before any fork: a child must not import between fork and exec.
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def tree(pid: int) -> list[int]:
    """Return ``pid`` and all its descendants that run now.

    psutil scans every process of the machine, which takes 17 times as long, so it is used only where the kernel keeps
    no list of children.
    """
    if sys.platform != "linux":
        import psutil

        with contextlib.suppress(psutil.Error):
            return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
        return [pid]
    found = [pid]
    for parent in found:  # grows while the loop reads it
        found += children(parent)
    return found


def die_with_parent() -> Callable[[], None] | None:
    """Return the function that a child runs before exec so that the kernel kills it with its parent (Linux only)."""
    if _LIBC is None:
        return None
    prctl, parent = _LIBC.prctl, os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent died before the request
            os._exit(1)

    return ask


def _before_exec(enter: Callable[[], None]) -> Callable[[], None]:
    end_with_us = die_with_parent()

    def prepare() -> None:
        if end_with_us is not None:
            end_with_us()
        enter()

    return prepare


def ending_text(code: int) -> str:
    """Return how a program ended, by its exit code; a negative one is the signal that ended it.

    >>> ending_text(3), ending_text(-6), ending_text(-200)
    ('exited with code 3', 'was ended by SIGABRT', 'was ended by signal 200')
    """
    if code >= 0:
        return f"exited with code {code}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"


@dataclass
class Running:
    """A process started by ``start``; it leads a separate session and process group."""

    process: subprocess.Popen[bytes]
    name: str
    """Its name in messages: ``InfluxDB``, ``the DuckDB worker``."""
    log: Path
    """File of its stderr, and of its stdout unless that is a pipe."""
    registry: Path | None = None
    """Folder in which it is registered for the sweep of leftovers."""
    mark: str = ""
    """Mark of its descendants (``strays``)."""

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""
        return self.process.pid

    def ending(self) -> str | None:
        """Return how it ended (``exited with code 1``), or None while it runs. Does not reap it.

        An unreaped process keeps its id, so stopping its group later cannot hit another process.
        """
        if self.process.returncode is not None:
            return self._ending_text(self.process.returncode)
        if not hasattr(os, "waitid"):
            code = self.process.poll()
            return None if code is None else self._ending_text(code)
        try:
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return "ended"
        if found is None:
            return None
        return self._ending_text(found.si_status if found.si_code == os.CLD_EXITED else -found.si_status)

    def _ending_text(self, code: int) -> str:
        return ending_text(code)

    def check(self) -> None:
        """Raise TrialFailed with the end of its log if it has died."""
        ending = self.ending()
        if ending is not None and self._strays():
            raise TrialFailed(
                f"{self.name} {ending} and left processes running in the background.",
                "Give a program that stays in the foreground: --system NAME=PATH, or an option of the server for that.",
            )
        if ending is not None:
            raise TrialFailed(
                f"{self.name} {ending}. The end of its log: {log_end(self.log)}",
                f"The whole log is {self.log}.",
            )

    def tree(self) -> list[int]:
        """Return the process ids of it and its descendants, also of those that left its tree; empty if it has ended."""
        if self.ending() is not None:
            return []
        return [*tree(self.pid), *self._strays()]

    def _strays(self) -> list[int]:
        """Return its descendants that left its tree."""
        if not self.mark:
            return []
        return [pid for root in strays.adopted(self.mark) if root != self.pid for pid in tree(root)]

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of its standard output, which must be a pipe, until it ends."""
        assert self.process.stdout is not None
        yield from self.process.stdout

    def release(self, at: float | None = None) -> None:
        """Send the line of standard input that it waits for, now or at a time of the clock."""
        if at is not None:
            time.sleep(max(0.0, at - time.time()))
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # if it has ended, reading its lines shows that
            self.process.stdin.write(b"\n")
            self.process.stdin.flush()

    def kill(self) -> None:
        """Kill the whole group at once, from any thread; ``stop`` must still be called."""
        if self.process.returncode is None:
            self._signal(signal.SIGKILL)
        strays.send(self._strays(), signal.SIGKILL)

    def wait_ending(self, seconds: float) -> None:
        """Wait until it has ended, at most ``seconds``."""
        until(self.ending, seconds, pause=0.002)

    def finish(self, check: Callable[[], object] = lambda: None) -> str:
        """Wait until it has ended, and call ``check`` each second; return how it ended. Kill it if ``check`` raises."""
        try:
            while (ending := self.ending()) is None:
                self.wait_ending(1.0)
                check()
            return ending
        finally:
            self.stop(grace_seconds=0.0, first=signal.SIGKILL)

    def stop(
        self, grace_seconds: float = GRACE_SECONDS, first: signal.Signals | None = signal.SIGTERM
    ) -> None:
        """Send ``first`` to the group (None: only wait), then SIGKILL after ``grace_seconds``; never raise."""
        if first is not None:
            strays.send(self._strays(), first)
        if self.process.returncode is None:
            if first is not None and self.ending() is None:
                self._signal(first)
            until(lambda: self.ending() and not self._strays(), grace_seconds, pause=0.002)
            self._signal(signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=10)
                strays.waited_for(self.pid)
        strays.end(self._strays, KILL_SECONDS)
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
    name: str,
    log: Path,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    registry: Path | None = None,
    pipes: bool = False,
) -> Running:
    """Start a process in a separate session; raise TrialFailed if that fails.

    Messages call it ``name``. ``environment`` is added to the harness's. With ``pipes``, stdin and stdout are pipes;
    without, stdin is empty and stdout goes to the log, as stderr always does. Inside ``confinement.confine`` the
    process is in its control group and on its cores from its first instruction.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    running: Running | None = None
    try:
        with interrupt.held():
            running = _started(command, name, log, cwd, environment, registry, pipes)
    except KeyboardInterrupt:
        if running is not None:
            running.stop(first=signal.SIGKILL)
        raise
    return running


def _started(
    command: Sequence[str | Path],
    name: str,
    log: Path,
    cwd: Path | None,
    environment: Mapping[str, str] | None,
    registry: Path | None,
    pipes: bool,
) -> Running:
    mark = strays.mark()
    with log.open("ab") as output:
        try:
            with confinement.before_exec() as enter:
                process = subprocess.Popen(
                    [str(part) for part in command],
                    stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                    stdout=subprocess.PIPE if pipes else output,
                    stderr=output,
                    cwd=cwd,
                    env={**os.environ, **confinement.padding(), **(environment or {}), marks.VARIABLE: mark},
                    start_new_session=True,
                    preexec_fn=_before_exec(enter),  # noqa: PLW1509 - makes system calls only
                )
        except (OSError, subprocess.SubprocessError) as error:
            reason = getattr(error, "strerror", None) or error
            raise TrialFailed(
                f"{name} could not be started: {reason} ({shlex.join(map(str, command))}).",
                "Check that the program exists and is executable on this machine.",
            ) from error
    strays.started(process.pid)
    running = Running(process, name, log, registry, mark)
    if registry is not None:
        try:
            leftovers.register(registry, process.pid, name)
        except OSError as error:
            running.stop(first=signal.SIGKILL)
            raise TrialFailed(
                f"{registry} cannot be written: {error.strerror}.", "Free space in it or make it writable."
            ) from error
    return running


def log_end(log: Path, lines: int = 8, limit: int = 2000) -> str:
    """Return the last lines of a log joined into one line, or ``(empty)``."""
    try:
        with log.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 16384))
            tail = file.read().decode(errors="replace")
    except OSError:
        tail = ""
    found = [line.strip() for line in tail.splitlines() if line.strip()][-lines:]
    return " | ".join(found)[-limit:] or "(empty)"


def find_benchload() -> Path:
    """Return the path of benchload; raise Unavailable if it is not built.

    An installed package has it. ``./bench`` builds it next to the Python environment, where programs that start that
    Python themselves find it.
    """
    places = (Path(benchbook.__file__).parent / "bin", Path(sys.prefix).parent / "bin")
    built = next((place / "benchload" for place in places if (place / "benchload").is_file()), None)
    found = os.environ.get("BENCHBOOK_BENCHLOAD") or built or shutil.which("benchload")
    if found and Path(found).is_file():
        return Path(found)
    raise Unavailable(
        "benchload is not built: BENCHBOOK_BENCHLOAD names no file, and benchload is not on PATH.",
        "Start Benchbook with ./bench or with Nix, which build it.",
    )
