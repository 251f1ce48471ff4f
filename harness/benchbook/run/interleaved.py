"""Measure commands beside each other: each in turn within a block, in random order, until a budget is spent."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchbook.errors import TrialFailed
from benchbook.plan.plan import blocks as ordered
from benchbook.plan.plan import new_seed
from benchbook.process.spawn import log_end
from benchbook.workers.command_loop import TOO_MUCH, answer, ran

WANTED = 30
"""Blocks into which a budget is divided, if the commands are short enough."""
LEAST = 5
"""Blocks that are measured even if the budget is spent: fewer give an interval that shows little."""
EMPTY_RUNS = 20
"""Runs of the empty command whose median is the time that the shell needs to start."""
MOST = 10_000
"""Blocks at most."""


@dataclass(frozen=True)
class Command:
    """A command to measure, and what runs around it."""

    text: str
    """As it was given."""
    argv: Sequence[str]
    prepare: Sequence[str] = ()
    """Runs before each run, untimed."""


@dataclass(frozen=True)
class Asked:
    """What to measure."""

    commands: Sequence[Command]
    budget_seconds: float
    empty: Sequence[str] = ()
    """The command that does nothing, whose time is subtracted; empty to subtract nothing."""
    setup: Sequence[str] = ()
    conclude: Sequence[str] = ()
    """Runs after each run, untimed."""
    cleanup: Sequence[str] = ()
    check: str = ""
    """Command for bash that reads a command's output, and whose own output is compared in its place."""
    output: Path | None = None
    """The file that is compared in place of what the command prints."""
    compared: str = "output"
    exit_codes: Sequence[int] = (0,)
    warmup: int = 1
    timeout_seconds: float = 600.0
    order_seed: int = field(default_factory=new_seed)
    block_seconds: float | None = None
    """Length of a block of short commands; by default the budget divided by ``WANTED``."""
    decided: Callable[[Measured, float], bool] | None = None
    """Called after each block with the share of the budget that is used, 1 after the last block: whether to stop."""


@dataclass
class Measured:
    """What the commands took, by their place in the request."""

    seconds: list[dict[int, float]]
    """For each command: block → median time of its runs."""
    runs: list[int]
    """Timed runs of each command."""
    answers: list[set[str | int]]
    """What each command gave; more than one if its runs differ."""
    took_seconds: float = 0.0
    empty_seconds: float = 0.0

    @property
    def blocks(self) -> int:
        """Number of whole blocks."""
        return min(map(len, self.seconds))

    @property
    def same(self) -> bool:
        """Whether all runs of all commands gave the same."""
        return len(set().union(*self.answers)) <= 1


def measure(asked: Asked, note: Callable[[str], None] = lambda _: None) -> Measured:
    """Run the commands in blocks until the budget is spent; raise TrialFailed if one does not end as it must.

    A block has every command once. There a command is repeated until its share of the budget, divided by ``WANTED``,
    has passed, so that short commands are measured many times; the block's value is the median.
    """
    with tempfile.TemporaryDirectory(prefix="benchbook-vs-") as scratch:
        return _Loop(asked, Path(scratch)).carried_out(note)


class _Loop:
    def __init__(self, asked: Asked, scratch: Path) -> None:
        count = len(asked.commands)
        self.asked, self.output, self.errors = asked, scratch / "output", scratch / "errors"
        self.found = Measured([{} for _ in range(count)], [0] * count, [set() for _ in range(count)])
        self.ended: set[str] = set()
        """Commands that ended once as they must."""
        self.share = (asked.block_seconds or asked.budget_seconds / WANTED) / count

    def carried_out(self, note: Callable[[str], None]) -> Measured:
        began = time.monotonic()
        try:
            self._measured(began, note)
        except BaseException:
            with suppress(TrialFailed):  # the first failure is the one to tell
                self._aside("cleanup", self.asked.cleanup)
            raise
        self._aside("cleanup", self.asked.cleanup)
        self.found.took_seconds = time.monotonic() - began
        return self.found

    def _measured(self, began: float, note: Callable[[str], None]) -> None:
        asked, found = self.asked, self.found
        self._aside("setup", asked.setup)
        if asked.empty:
            found.empty_seconds = median(
                self._timed(asked.empty, (0,), "the empty command") for _ in range(EMPTY_RUNS)
            )
        for place in range(len(asked.commands)):
            for _ in range(asked.warmup):
                self._once(place)
            if asked.warmup:
                self._compare(place)
        if found.same:  # otherwise nothing is compared
            self._blocks(began, note)

    def _blocks(self, began: float, note: Callable[[str], None]) -> None:
        """Measure whole blocks until the next one would end after the budget."""
        asked, found, longest = self.asked, self.found, 0.0
        places = range(len(asked.commands))
        for number, block in enumerate(ordered([*places], MOST, asked.order_seed)):
            started = time.monotonic()
            if number >= LEAST and started - began + longest > asked.budget_seconds:
                break
            for place in block:
                found.seconds[place][number] = self._repeated(place)
                self._compare(place)
            longest = max(longest, time.monotonic() - started)
            used = time.monotonic() - began
            last = number + 1 >= LEAST and used + longest > asked.budget_seconds
            share = min(used / asked.budget_seconds, (number + 1) / LEAST, 1.0)
            if asked.decided and asked.decided(found, 1.0 if last else share):
                break
            if number + 1 == LEAST and time.monotonic() - began > asked.budget_seconds:
                note(f"the budget was too small for {LEAST} blocks, which are the fewest")

    def _repeated(self, place: int) -> float:
        """Return the median time of the runs that fit a command's share of a block; at least one."""
        taken: list[float] = []
        began = time.monotonic()
        while not taken or time.monotonic() - began < self.share:
            taken.append(self._once(place))
        self.found.runs[place] += len(taken)
        return median(taken) - self.found.empty_seconds

    def _once(self, place: int) -> float:
        one = self.asked.commands[place]
        self._aside("prepare", one.prepare)
        seconds = self._timed(one.argv, self.asked.exit_codes, one.text)
        self._aside("conclude", self.asked.conclude)
        return seconds

    def _timed(self, argv: Sequence[str], exit_codes: Sequence[int], shown: str) -> float:
        one = ran(
            [*argv],
            {"output": str(self.output), "errors": str(self.errors), "timeout": self.asked.timeout_seconds},
        )
        if one["stopped"] == "time":
            raise TrialFailed(f"`{shown}` took longer than {self.asked.timeout_seconds:g} s.")
        if one["stopped"]:
            raise TrialFailed(
                f"`{shown}` {TOO_MUCH}.", "Count its output in the command: --shell bash 'COMMAND | wc -c'"
            )
        if one["code"] not in exit_codes:
            again = "If runs leave files in each other's way, remove them with --prepare."
            raise TrialFailed(
                f"`{shown}` ended with exit code {one['code']}; the end of its errors: {log_end(self.errors)}",
                again if shown in self.ended else None,
            )
        self.ended.add(shown)
        return float(one["seconds"])

    def _aside(self, name: str, argv: Sequence[str]) -> None:
        """Run an untimed command, if there is one, without keeping what it prints."""
        if not argv:
            return
        request = {"output": os.devnull, "errors": str(self.errors), "timeout": self.asked.timeout_seconds}
        if code := ran([*argv], request)["code"]:
            raise TrialFailed(f"--{name} ended with exit code {code}: {log_end(self.errors)}")

    def _compare(self, place: int) -> None:
        """Keep what the last run of a command gave."""
        file = self.output
        if self.asked.compared == "nothing":
            return
        if self.asked.output is not None:
            file = self.asked.output
        elif self.asked.check:
            file = self.output.with_name("checked")
            request = {"output": str(file), "errors": str(self.errors), "timeout": self.asked.timeout_seconds}
            argv = [
                "bash",
                "-c",
                f'set -o pipefail; exec < "$1"; {self.asked.check}',
                "bash",
                str(self.output),
            ]
            if code := ran(argv, request)["code"]:
                raise TrialFailed(f"--check ended with exit code {code}: {log_end(self.errors)}")
        if not file.is_file():
            raise TrialFailed(f"--output {file}: `{self.asked.commands[place].text}` wrote no such file.")
        self.found.answers[place].add(answer(file, self.asked.compared))
