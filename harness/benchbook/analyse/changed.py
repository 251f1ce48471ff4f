"""Find where the conditions of a run changed: settings of the machine, and what other programs used of it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from benchbook.analyse.run import Run

DISTURBED = 0.1
"""Share of the processor time above which other programs disturb a trial; ``doctor`` allows as much load."""


@dataclass(frozen=True)
class Stretch:
    """Trials one after the other with one value."""

    first: int
    """Number of the first trial in the run, from 0."""
    last: int
    value: Any


def settings(run: Run) -> dict[str, list[Stretch]]:
    """Return the settings that changed during a run, each with its stretches of trials.

    Trials of several machines are left out: their settings differ without a change.
    """
    recorded: dict[str, list[tuple[int, Any]]] = {}
    trials = run.frame("trials").select("index", "load_before", "placement").sort("index")
    for index, load, placement in trials.iter_rows():
        held = json.loads(load).get("settings") if load and not placement else None
        for name, value in held.items() if isinstance(held, dict) else ():
            recorded.setdefault(name, []).append((index, value))
    found = {name: stretches(values) for name, values in recorded.items()}
    return {name: held for name, held in found.items() if len(held) > 1}


def others(run: Run) -> list[tuple[int, float]]:
    """Return the number of each valid trial, in order, and the share of the processor time that others used in it."""
    shares = run.by_trial("trial", "other_cpu_fraction")
    numbers = run.ok.select("index", "trial_id").sort("index").iter_rows()
    return [(index, shares[trial_id]) for index, trial_id in numbers if trial_id in shares]


def stretches(values: Iterable[tuple[int, Any]]) -> list[Stretch]:
    """Return the stretches of equal values, from (number of the trial, value) in order."""
    grouped = itertools.groupby(values, key=lambda one: one[1])
    return [Stretch(held[0][0], held[-1][0], value) for value, group in grouped if (held := list(group))]
