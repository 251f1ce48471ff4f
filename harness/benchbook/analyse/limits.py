"""Compute what limits the numbers of a run: their pace, short phases, and a client that may have set the result."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.analyse.values import TRIAL, Cell, Pair, Validity
from benchbook.declare.level import same
from benchbook.measure import steady

WHOLE = 0.9
"""Share of the usual length of an interval; a shorter one is the end of a phase, not a whole interval."""

Labels = dict[tuple[str, str], steady.Label]
"""(trial, phase) → label."""


@functools.cache
def labels(run: Run) -> Labels:
    """Return the label of the pace of every phase whose intervals show it, in valid trials, without warm-up.

    The pace of a load is its rows per second, that of queries the queries per second.
    """
    named = [phase for _, phase in run.phases_having(lambda one: one.paced)]
    kept = run.intervals_of(named)
    length = pl.col("duration_seconds")
    whole = length >= WHOLE * length.median()
    counted = pl.when(pl.col("rows").filter(whole).sum() > 0).then("rows").otherwise("operations")
    # All phases of all trials at once: a frame for each takes seconds with 10,000 trials.
    series = kept.group_by("place", "phase", maintain_order=True).agg(rate=(counted / length).filter(whole))
    named_labels = steady.labels(series["rate"].to_list())
    ids = run.places.ids
    of = [(ids[place], named[phase]) for place, phase in series.select("place", "phase").iter_rows()]
    return dict(zip(of, named_labels, strict=True))


@functools.cache
def _by_trial(run: Run) -> dict[str, dict[str, steady.Label]]:
    found: dict[str, dict[str, steady.Label]] = {}
    for (trial_id, phase), label in labels(run).items():
        found.setdefault(trial_id, {})[phase] = label
    return found


def pace_of_trial(run: Run, trial_id: str) -> str:
    """Return the labels of a trial's phases as text: ``load drifting, groupby steady``."""
    by_phase = _by_trial(run).get(trial_id, {})
    kinds = set(by_phase.values())
    if len(kinds) == 1:
        return kinds.pop()
    return ", ".join(f"{phase} {label}" for phase, label in by_phase.items())


@functools.cache
def label_counts(run: Run) -> dict[str, Counter[str]]:
    """Return, for each phase, the number of trials with each label."""
    found: dict[str, Counter[str]] = {}
    for (_, phase), label in labels(run).items():
        found.setdefault(phase, Counter())[label] += 1
    return found


BUSY_CLIENT = 0.8
"""Share of its cores above which the client may limit the result."""
BRIEF_SECONDS = 1.0
"""A pause of the machine may be most of a shorter phase: its rates and latencies are shown, but not judged."""


@dataclass(frozen=True)
class Ceiling:
    """The rate of the client alone: against a server that discards everything, or without sending."""

    loads: tuple[dict[str, Any], ...]
    """The loads that were measured for at least a second, each with its ``rows_per_second``. Those with ``systems``
    were encoded in the protocol of these systems, and not sent."""
    seconds: float
    """Length of the shortest calibration; 0 without one."""
    own_cores: bool
    """True if it ran on the client's cores of the trials."""

    def of(self, cell: Cell | None = None) -> float | None:
        """Return the lowest rate (rows per second) at the batches, workers and protocol of a cell.

        By default that of any load into the null server. None if it was not measured, or for less than a second. Older
        runs did not record the batches and workers, and measured no other protocol than InfluxDB's.
        """
        sent = [one for one in self.loads if "systems" not in one]
        own = [one for one in self.loads if cell is not None and cell.system in one.get("systems", ())]
        rates = [
            float(one["rows_per_second"]) for one in own or sent
            if cell is None or all(
                same(cell.levels[name], one[name]) for name in ("batch_size", "workers")
                if name in cell.levels and name in one
            )
        ]  # fmt: skip
        return min(rates, default=None)


def _calibrations(run: Run) -> list[dict[str, Any]]:
    """Return the summaries of the client alone: of loads, and of other phases by ``phase`` and ``cells``."""
    return [one for one in run.fact_list("calibration") if isinstance(one, dict)]


def _seconds(calibration: dict[str, Any]) -> float:
    """Return the length of a measurement of the client alone."""
    return float(calibration.get("duration_ns") or 0) / 1e9


def ceiling(run: Run) -> Ceiling:
    """Return the client's ceiling: a rate for each kind of load and each choice of cores among the trials."""
    found = [one for one in _calibrations(run) if one.get("rows_per_second") and "phase" not in one]
    seconds = min((_seconds(one) for one in found), default=0.0)
    own = bool(found) and all(one.get("client_cores") for one in found)
    return Ceiling(tuple(found) if seconds >= BRIEF_SECONDS else (), seconds, own)


def phase_ceiling(run: Run, phase: str, rate: str, cell: Cell) -> float | None:
    """Return the lowest rate that the client alone reaches in a phase of a cell, per second.

    ``rate`` is its key in a calibration. None if it was not measured, or for less than a second. Older runs did not
    record the cells.
    """
    rates = [
        float(one[rate]) for one in _calibrations(run)
        if one.get("phase") == phase and one.get(rate) and cell.name in one.get("cells", [cell.name])
        and _seconds(one) >= BRIEF_SECONDS
    ]  # fmt: skip
    return min(rates, default=None)


def calibrated_seconds(run: Run) -> float:
    """Return the length of the shortest measurement of the client alone; 0 without one."""
    return min((_seconds(one) for one in _calibrations(run)), default=0.0)


def brief(run: Run, phase: str) -> dict[str, float]:
    """Return cell → shortest duration in s, of cells in which a timed phase lasted less than a second."""
    found = {cell.name: run.phase_seconds(cell, phase) for cell in run.cells}
    return {name: held for name, held in found.items() if held is not None and held < BRIEF_SECONDS}


def short_phase(run: Run, cells: Iterable[Cell], pair: Pair, validity: Validity = "trial") -> Reason | None:
    """Return that a phase was too short for a verdict on its rates and latencies; None if it was not.

    A pause of the machine, or what a system does once when a phase begins, may be most of it. Amounts such as bytes and
    rows do not depend on the length, and a trial as a whole has no phase.
    """
    phase, metric = pair
    if phase == TRIAL or not (metric.endswith("per_second") or metric.startswith("latency")):
        return None
    seconds = [run.phase_seconds(cell, phase, validity) for cell in cells]
    shortest = min((one for one in seconds if one is not None), default=BRIEF_SECONDS)
    if shortest >= BRIEF_SECONDS:
        return None
    return because("short-phase", phase=phase, seconds=shortest, least=BRIEF_SECONDS)


def busy_client(run: Run) -> list[Reason]:
    """Return where the client limited the result, or used so much of its cores that it may have."""
    found: dict[tuple[str, str], float] = {}
    for phase, numbers in run.phases_of("client_cpu_fraction").items():
        busy = numbers.at(numbers.values > BUSY_CLIENT)
        for cell, value in zip(run.places.cells[busy.places].tolist(), busy.values.tolist(), strict=True):
            system = run.cells[cell].system
            if not run.embedded(system):
                found[system, phase] = max(found.get((system, phase), 0.0), value)
    return _generator_bound(run) + [
        because("client-busy", phase=phase, system=run.title(system), share=value)
        for (system, phase), value in found.items()
    ]


def _generator_bound(run: Run) -> list[Reason]:
    """Return the phases in which workers waited for the generator for more than half of their time."""
    counted = Counter(
        (run.cells[cell].system, phase)
        for phase, numbers in run.phases_of("generator_bound").items()
        for cell in run.places.cells[numbers.places].tolist()
    )
    return [
        because("generator-bound", phase=phase, system=run.title(system), trials=count)
        for (system, phase), count in counted.items()
    ]


def shared_cores(run: Run) -> list[Reason]:
    """Return in how many trials server and client ran on the same cores, and why."""
    found: dict[str, int] = {}
    alike = run.ok.group_by("system", "confinement", maintain_order=True).len()
    for system, held, trials in alike.iter_rows():
        confinement = json.loads(held) if held and not run.embedded(system) else {}
        pinning = str(confinement.get("pinning") or "")
        if pinning and confinement.get("client_cores") is None:
            why = pinning.partition(": ")[2] or pinning
            found[why] = found.get(why, 0) + trials
    return [because("shared-cores", trials=count, why=why) for why, count in found.items()]


def one_device(run: Run) -> list[Reason]:
    """Return the storages whose several disks are files on one device, which they share."""
    found: dict[str, Reason] = {}
    for storage, held in run.ok.select("storage", "storage_facts").unique().iter_rows():
        facts = json.loads(held) if held else {}
        below = (facts.get("below") or {}).get("device")
        disks, most = int(facts.get("disks") or 0), facts.get("writes_per_second")
        if disks > 1 and isinstance(below, dict):
            found[str(storage)] = because(
                "one-device",
                storage=str(storage),
                disks=disks,
                device=below.get("name"),
                writes_per_second=most,
            )
    return [one for _, one in sorted(found.items())]
