"""The display of a run: one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

from benchbook.host.terminal import visible
from benchbook.plan.plan import Plan, PlannedTrial, short_labels
from benchbook.record.trial_record import Trial


class Progress:
    """An observer that displays phase, throughput, finished trials and remaining time on standard error."""

    def __init__(
        self, estimate_seconds: float, console: Console | None = None, budget: float | None = None
    ) -> None:
        self._console = console or Console(stderr=True, highlight=False)
        self._estimate = estimate_seconds
        self._budget = budget
        """Seconds after which no other block begins; None for no limit."""
        self._live: Live | None = None
        self._total = 0
        self._done = 0
        self._done_before = 0
        self._began = 0.0
        self._trial: PlannedTrial | None = None
        self._names: dict[str, str] = {}
        self._phase = "preparing"
        self._rate = ""

    def note(self, sentence: str) -> None:
        """Print a sentence above the live line."""
        self._console.print(f"bench: {visible(sentence)}", markup=False, soft_wrap=True)

    def run_started(self, plan: Plan, done: int) -> None:
        """Begin the display."""
        self._total, self._done, self._done_before = len(plan.trials), done, done
        self._began = time.monotonic()
        self._names = short_labels(trial.levels for trial in plan.trials)
        begun = f" ({done} done before)" if done else ""
        most = "at most " if plan.sequential or plan.gate else ""
        self.note(
            f"{plan.run_id}: {most}{self._total} trials of {len(plan.cells())} cells{begun}, "
            f"profile {plan.profile}, about {_duration(self._left())}"
        )
        if self._console.is_terminal:
            self._live = Live(
                get_renderable=self._line, console=self._console, refresh_per_second=4, transient=True
            )
            self._live.start()

    def trial_started(self, trial: PlannedTrial) -> None:
        """Show the trial."""
        self._trial, self._phase, self._rate = trial, "start", ""

    def phase(self, name: str) -> None:
        """Show the phase."""
        self._phase, self._rate = name, ""

    def rate(self, per_second: float, unit: str) -> None:
        """Show the throughput of the last second."""
        self._rate = f"{per_second:,.0f} {unit}"

    def trial_ended(self, trial: PlannedTrial, record: Trial) -> None:
        """Print one line for the trial, and the reason where it is not ok."""
        self._done += 1
        shown = (
            record["reason"] and record["status"] != "skipped"
        )  # the reason of a skip precedes the first trial
        reason = f": {record['reason']}" if shown else ""
        # A terminal has the live line.
        going = self._done < self._total and not self._console.is_terminal
        left = f", about {_duration(self._left())} left" if going else ""
        self.note(
            f"[{self._done}/{self._total}] block {trial.block + 1} {self._names.get(trial.cell, trial.cell)} "
            f"{record['status']} in {record['duration_seconds']:.1f} s{left}{reason}"
        )

    def run_ended(self) -> None:
        """End the display."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _left(self) -> float:
        """Return the remaining seconds: by the pace so far once a trial is done, else by the estimate."""
        done_now = self._done - self._done_before
        left = self._total - self._done
        spent = time.monotonic() - self._began
        expected = spent / done_now * left if done_now else self._estimate * left / max(self._total, 1)
        return expected if self._budget is None else min(expected, max(self._budget - spent, 0.0))

    def _line(self) -> Text:
        """Return the live line: the trial comes last, because a narrow terminal cuts off the end."""
        cell = self._names.get(self._trial.cell, self._trial.cell) if self._trial else ""
        parts = [
            f"{self._done}/{self._total} trials",
            f"{_duration(self._left())} left",
            self._phase,
            self._rate,
            cell,
        ]
        line = Text(visible("  ".join(part for part in parts if part)), no_wrap=True, overflow="ellipsis")
        line.stylize("bold", 0, len(parts[0]))
        return line


def _duration(seconds: float) -> str:
    """Return a length of time for people: ``45 s``, ``12 min``, ``3.5 h``; at least a second.

    >>> _duration(0.02), _duration(600)
    ('1 s', '10 min')
    """
    if seconds < 90:
        return f"{max(seconds, 1.0):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Observer(Protocol):
    """Receives the events of a run. Calls come from the run's thread and must return at once."""

    def note(self, sentence: str) -> None:
        """Receive a sentence for the user: preparation, warnings, what was swept."""

    def run_started(self, plan: Plan, done: int) -> None:
        """Begin the run, of which ``done`` trials exist already."""

    def trial_started(self, trial: PlannedTrial) -> None:
        """Begin a trial."""

    def phase(self, name: str) -> None:
        """Begin a phase of the trial."""

    def rate(self, per_second: float, unit: str) -> None:
        """Receive the throughput of the last second."""

    def trial_ended(self, trial: PlannedTrial, record: Trial) -> None:
        """End a trial; ``record`` is the content of ``trial.json``."""

    def run_ended(self) -> None:
        """End the run, also after an interruption."""
