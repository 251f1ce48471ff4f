"""benchload on other machines, through Dask: start it, read its output, stop it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import TimeoutError as NoAnswer
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.errors import TrialFailed
from benchbook.host import temporary
from benchbook.process import spawn

CLOCK_ROUNDS = 9
"""Round trips to compare two clocks; the fastest one counts."""
LINES = 2000
"""Maximum number of lines that an agent returns per call."""
ANSWER_SECONDS = 30.0
"""Time that a worker may take to answer before it counts as lost."""
POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Offset:
    """Offset of another machine's clock, positive if it is ahead of this machine's."""

    seconds: float
    error_seconds: float
    """Half the round trip of the fastest message: the largest possible error of the offset."""


def offset(ask: Callable[[], float], now: Callable[[], float] = time.time) -> Offset:
    """Return the offset of the remote clock that ``ask`` reads, from the fastest of several round trips.

    >>> times = iter([0.0, 2.0] * 9)
    >>> offset(lambda: 11.0, lambda: next(times))
    Offset(seconds=10.0, error_seconds=1.0)
    """
    best: Offset | None = None
    for _ in range(CLOCK_ROUNDS):
        sent = now()
        there = ask()
        got = now()
        found = Offset(there - (sent + got) / 2, (got - sent) / 2)
        if best is None or found.error_seconds < best.error_seconds:
            best = found
    assert best is not None
    return best


class Agent:
    """The load clients of one worker, a Dask actor.

    Every call returns at once, because all actors of a worker share one thread.
    """

    def __init__(self, program: Path) -> None:
        """``program`` is the load client on this machine."""
        self._program = program
        self._held = temporary.folder("client")  # removed with the agent
        self._folder = Path(self._held.name)
        self._running: dict[int, tuple[spawn.Running, deque[bytes], threading.Thread]] = {}

    def about(self) -> dict[str, Any]:
        """Return the facts that identify this machine."""
        return {"host": socket.gethostname(), "cores": len(os.sched_getaffinity(0)), "pid": os.getpid()}

    def now(self) -> float:
        """Return this machine's clock, s since 1970."""
        return time.time()

    def start(self, arguments: list[str], files: dict[int, bytes], environment: dict[str, str]) -> int:
        """Start benchload and return a handle; ``files`` holds the content of arguments that name files."""
        key = len(self._running)
        for place, content in files.items():
            path = self._folder / f"{key}-{place}"
            path.write_bytes(content)
            arguments[place] = str(path)
        log = self._folder / f"{key}.log"
        running = spawn.start(
            [self._program, *arguments],
            name="benchload",
            log=log,
            pipes=True,
            environment=environment,
        )
        lines: deque[bytes] = deque()
        pump = threading.Thread(target=_pump, args=(running, lines), daemon=True)
        pump.start()
        self._running[key] = running, lines, pump
        return key

    def begin(self, key: int, at: float) -> None:
        """Release a waiting benchload at a time of this machine's clock."""
        running = self._running[key][0]
        threading.Timer(max(0.0, at - time.time()), _release, args=(running,)).start()

    def poll(self, key: int) -> tuple[list[bytes], str | None, str]:
        """Return new lines, how it ended (None while it runs or lines are left), and its log once it has ended."""
        running, lines, pump = self._running[key]
        ending = running.ending()
        if ending is not None:
            pump.join(timeout=5)
        new = [lines.popleft() for _ in range(min(len(lines), LINES))]
        if ending is None or lines:
            return new, None, ""
        return new, ending, running.log.read_text(errors="replace")[-20000:]

    def stop(self, key: int) -> None:
        """Kill it."""
        self._running[key][0].stop(grace_seconds=0.0, first=signal.SIGKILL)

    def stop_all(self) -> None:
        """Kill every benchload that this agent started."""
        for running, _, _ in self._running.values():
            running.stop(grace_seconds=0.0, first=signal.SIGKILL)


def _pump(running: spawn.Running, lines: deque[bytes]) -> None:
    assert running.process.stdout is not None
    with contextlib.suppress(ValueError, OSError):
        for line in running.process.stdout:
            lines.append(line)


def _release(running: spawn.Running) -> None:
    with contextlib.suppress(OSError, ValueError):
        running.release()


@dataclass
class Machine:
    """A worker that runs clients: its address, its actor and what identifies it."""

    address: str
    agent: Any
    about: dict[str, Any]
    clock: Offset | None = None

    def ask(self, name: str, *arguments: Any) -> Any:
        """Call its agent; raise TrialFailed if the worker is gone or does not answer."""
        try:
            return getattr(self.agent, name)(*arguments).result(timeout=ANSWER_SECONDS)
        except (OSError, RuntimeError, ValueError, NoAnswer, TimeoutError) as error:
            why = (
                f"did not answer for {ANSWER_SECONDS:.0f} s"
                if isinstance(error, NoAnswer | TimeoutError)
                else "is gone"
            )
            raise TrialFailed(
                f"The trial lost the client's worker {self.address} on {self.about.get('host')}: it {why}.",
                "The next trials use the remaining workers.",
            ) from error

    def synchronise(self) -> None:
        """Measure the offset of its clock."""
        self.clock = offset(lambda: float(self.ask("now")))

    def placement(self) -> dict[str, Any]:
        """Return what a trial's record stores about it."""
        clock = self.clock or Offset(0.0, 0.0)
        return {
            "worker": self.address,
            "host": self.about.get("host"),
            "cores": self.about.get("cores"),
            "clock_offset_seconds": clock.seconds,
            "clock_error_seconds": clock.error_seconds,
        }


class RemoteRunning:
    """One benchload on another machine, the counterpart of ``spawn.Running``."""

    def __init__(self, machine: Machine, key: int, log: Path) -> None:
        self._machine, self._key, self.log = machine, key, log
        self._ending: str | None = None

    def lines(self) -> Iterator[bytes]:
        """Yield its output lines until it ends."""
        while self._ending is None:
            new, ending, messages = self._machine.ask("poll", self._key)
            yield from new
            if ending is not None:
                self._ending = ending
                with self.log.open("a", encoding="utf-8") as file:
                    file.write(messages)
            elif not new:
                time.sleep(POLL_SECONDS)

    def release(self, at: float) -> None:
        """Release it at a time of this machine's clock, converted to its machine's clock."""
        ahead = self._machine.clock.seconds if self._machine.clock else 0.0
        self._machine.ask("begin", self._key, at + ahead)

    def ending(self) -> str | None:
        """Return how it ended, or None while it runs."""
        return self._ending

    def wait_ending(self, seconds: float) -> None:
        """Return at once: ``lines`` ends when it ends."""

    def tree(self) -> list[int]:
        """Return no processes: they run on another machine."""
        return []

    def kill(self) -> None:
        """Kill it."""
        self.stop()

    def stop(self, grace_seconds: float = 0.0, first: signal.Signals | None = None) -> None:  # noqa: ARG002
        """Kill it, unless its worker is lost and it has ended with it."""
        if self._ending is None:
            self._ending = "was ended"
            try:
                self._machine.ask("stop", self._key)
            except TrialFailed:
                return


class Machines:
    """Starts the clients of one trial on machines in turn; each client stays on its machine."""

    def __init__(self, machines: Sequence[Machine]) -> None:
        self.machines = machines
        self._by_log: dict[Path, Machine] = {}

    def start(
        self, command: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None
    ) -> RemoteRunning:
        """Start a client's command with that machine's benchload; send the files that it reads."""
        machine = self._by_log.setdefault(log, self.machines[len(self._by_log) % len(self.machines)])
        rest = list(command[1:])
        files = {
            place: part.read_bytes()
            for place, part in enumerate(rest)
            if isinstance(part, Path) and part.is_file()
        }
        log.parent.mkdir(parents=True, exist_ok=True)
        key = machine.ask("start", [str(part) for part in rest], files, dict(environment or {}))
        return RemoteRunning(machine, int(key), log)

    def cores(self) -> int:
        """Return the total number of cores of the machines."""
        return sum(int(one.about["cores"]) for one in self.machines)
