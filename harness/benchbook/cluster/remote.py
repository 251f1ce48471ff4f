"""A benchload on another machine, as the client of a trial sees it; the counterpart of ``process.Running``."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import TimeoutError as NoAnswer
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchbook.cluster.clock import Offset, offset
from benchbook.errors import TrialFailed

ANSWER_SECONDS = 30.0
"""A worker that says nothing for so long is lost."""
POLL_SECONDS = 0.1


@dataclass
class Machine:
    """A worker that runs clients: its actor, its address and what it said of itself."""

    address: str
    agent: Any
    about: dict[str, Any]
    clock: Offset | None = None

    def ask(self, name: str, *arguments: Any) -> Any:
        """Call its agent; raise TrialFailed in words where the worker is gone."""
        try:
            return getattr(self.agent, name)(*arguments).result(timeout=ANSWER_SECONDS)
        except (OSError, RuntimeError, ValueError, NoAnswer, TimeoutError) as error:
            why = (
                f"said nothing for {ANSWER_SECONDS:.0f} s"
                if isinstance(error, NoAnswer | TimeoutError)
                else "is gone"
            )
            raise TrialFailed(
                f"The client's worker {self.address} on {self.about.get('host')} was lost in the trial: it {why}.",
                "The next trials use the workers that are left.",
            ) from error

    def synchronise(self) -> None:
        """Compare its clock with ours."""
        self.clock = offset(lambda: float(self.ask("now")))

    def placement(self) -> dict[str, Any]:
        """Return it as the record of a trial holds it."""
        clock = self.clock or Offset(0.0, 0.0)
        return {
            "worker": self.address,
            "host": self.about.get("host"),
            "cores": self.about.get("cores"),
            "clock_offset_seconds": clock.seconds,
            "clock_error_seconds": clock.error_seconds,
        }


class RemoteRunning:
    """One benchload that was started on a machine."""

    def __init__(self, machine: Machine, key: int, log: Path) -> None:
        self._machine, self._key, self.log = machine, key, log
        self._ending: str | None = None

    def lines(self) -> Iterator[bytes]:
        """Yield its lines until it ends."""
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
        """Let it begin at a moment of our clock, which is translated to its machine's."""
        ahead = self._machine.clock.seconds if self._machine.clock else 0.0
        self._machine.ask("begin", self._key, at + ahead)

    def ending(self) -> str | None:
        """Say how it ended, or None."""
        return self._ending

    def wait_ending(self, seconds: float) -> None:
        """Return at once: its lines end when it does."""

    def tree(self) -> list[int]:
        """Return no processes: they are another machine's."""
        return []

    def kill(self) -> None:
        """End it by force."""
        self.stop()

    def stop(self, grace_seconds: float = 0.0, first: signal.Signals | None = None) -> None:  # noqa: ARG002
        """End it by force; a worker that is lost has ended it."""
        if self._ending is None:
            self._ending = "was ended"
            try:
                self._machine.ask("stop", self._key)
            except TrialFailed:
                return


class Machines:
    """Starts the clients of one trial on the machines, in turn: one client stays on one machine."""

    def __init__(self, machines: Sequence[Machine]) -> None:
        self.machines = machines
        self._of: dict[Path, Machine] = {}

    def start(
        self, command: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None
    ) -> RemoteRunning:
        """Start a client's command; its program is the machine's own, files that it reads are sent along."""
        machine = self._of.setdefault(log, self.machines[len(self._of) % len(self.machines)])
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
        """Return the cores of all machines."""
        return sum(int(one.about["cores"]) for one in self.machines)


StartClient = Callable[[Sequence[str | Path], Path, Mapping[str, str] | None], RemoteRunning]
