"""What a run tells about itself while it goes: one protocol, so that tests and displays are alike."""

from __future__ import annotations

from typing import Any, Protocol

from benchbook.plan.plan import Plan, PlannedTrial


class Observer(Protocol):
    """Takes what happens in a run. Calls come from the run's own thread and must return at once."""

    def note(self, sentence: str) -> None:
        """Take a sentence for the user: preparation, warnings, what was swept."""

    def run_started(self, plan: Plan, done: int) -> None:
        """Begin: ``done`` trials of the plan exist already."""

    def trial_started(self, trial: PlannedTrial) -> None:
        """Begin a trial."""

    def phase(self, name: str) -> None:
        """Begin a phase of the trial."""

    def rate(self, per_second: float, unit: str) -> None:
        """Take the throughput of the last second."""

    def trial_ended(self, trial: PlannedTrial, record: dict[str, Any]) -> None:
        """End a trial; ``record`` is what ``trial.json`` holds."""

    def run_ended(self) -> None:
        """End the run, also when it was interrupted."""
