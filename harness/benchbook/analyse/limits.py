"""Compute the limits of a run: what readers must know before they use its numbers."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from benchbook.analyse import comparison, looked, noise, order, quantity, scaled, wording
from benchbook.analyse.cells import labelled
from benchbook.analyse.model import Noise
from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.declare.level import same
from benchbook.declare.metric import describe
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


FEW_TRIALS = 10
"""Trials of a cell below which a limit says that they are few."""
BUSY_CLIENT = 0.8
"""Share of its cores above which the client may limit the result."""
WAITED_SECONDS = 0.01
"""Total time that a client's workers wait for the file of single operations before a limit reports it."""
BRIEF_SECONDS = 1.0
"""A pause of the machine may dominate a shorter phase."""
STOLEN = 0.01
"""Share of time stolen by the hypervisor above which a limit reports it."""


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


@functools.cache
def limits(run: Run) -> tuple[str, ...]:
    """Return what readers must know before they use the numbers of a run, one or two sentences each."""
    return tuple(sentence for part in _PARTS for sentence in part(run))


def _mixed(run: Run) -> list[str]:
    return [f"As requested, this report combines trials of different work: {run.mixed}."] if run.mixed else []


def _size(run: Run) -> list[str]:
    profile = run.info["profile"]
    if profile == "smoke":
        return ["Profile smoke is for tests: its trials last seconds or less, so its numbers mean little."]
    if short := scaled.of_run(run):
        label = wording.shortfall(**short.facts)
        return [f"Profile {profile}, {label}. Published numbers were measured at full size."]
    return [f"Profile {profile}: systems may rank differently with other data sizes and queries."]


def _trials(run: Run) -> list[str]:
    # The report lists cells without valid trials elsewhere, among the gaps.
    counts = [cell.ok for cell in labelled(run) if cell.ok]
    found = []
    if counts and min(counts) < 3:
        found.append("Setups with fewer than 3 valid trials have no interval and no verdict.")
    if counts and min(counts) < FEW_TRIALS:
        found.append(
            f"At least one setup has only {min(counts)} valid trials; intervals are dependable from {FEW_TRIALS} "
            "trials on."
        )
    if looks := looked.sentence(run):
        found.append(
            f"{looks} The intervals of claims are widened for the repeated looks; other intervals on this page are not."
        )
    beside = sum(1 for held in run.ok["load_before"].drop_nulls() if json.loads(held).get("other_runs"))
    if beside:
        found.append(f"{beside} trials ran while another run was in progress on the same machine.")
    if run.info["finished_at"] is None:
        found.append("The run is not finished.")
    return found


def _brief(run: Run) -> list[str]:
    """Return the phases that lasted less than one second in some setup, and in how many."""
    timed = run.query(
        "SELECT p.phase FROM phases p JOIN trials t USING (trial_id) WHERE t.run_id = ? AND p.timed "
        "AND p.workload IS NOT NULL GROUP BY p.phase ORDER BY min(p.position), p.phase"
    )
    named = []
    for phase in timed["phase"]:
        if found := brief(run, phase):
            whole = sum(run.phase_seconds(cell, phase) is not None for cell in run.cells)
            shortest = quantity.text(min(found.values()), "s")
            named.append(f"the phase {phase} in {len(found)} of {whole} setups (the shortest: {shortest})")
    if not named:
        return []
    return [
        (
            f"Shorter than one second: {', '.join(named)}. Pauses of milliseconds affect such phases strongly, so "
            "claims on them stay undecided; charts mark them."
        )
    ]


def _pace(run: Run) -> list[str]:
    """Return the phases without a steady rate; all numbers include them."""
    found = []
    for phase, counts in label_counts(run).items():
        for label, problem in (
            ("drifting", "never became steady"),
            ("warming", "was different at first and steady later"),
        ):
            if counts[label]:
                found.append(
                    f"In {counts[label]} of {counts.total()} valid trials, the rate of phase {phase} {problem}; all "
                    "numbers include these trials."
                )
    return found


def _embedded(run: Run) -> list[str]:
    names = list(dict.fromkeys(cell.system for cell in labelled(run)))
    inside = [run.title(name) for name in names if run.embedded(name)]
    if not inside:
        return []
    verb = "run" if len(inside) > 1 else "runs"
    found = [
        (
            f"{' and '.join(inside)} {verb} inside the client's process: their processor time and memory include the "
            "client's, and no network transport is part of the numbers."
        )
    ]
    if len(inside) < len(names):
        found.append(
            "Servers and embedded systems are not ranked together, because only servers' numbers include transport."
        )
    return found


class Busy(NamedTuple):
    """A phase whose result the client may have limited."""

    phase: str
    sentence: str


def busy_client(run: Run) -> list[Busy]:
    """Return the phases in which the client limited the result, or used so much of its cores that it may have."""
    found: dict[tuple[str, str], float] = {}
    for phase, numbers in run.phases_of("client_cpu_fraction").items():
        busy = numbers.at(numbers.values > BUSY_CLIENT)
        for cell, value in zip(run.places.cells[busy.places].tolist(), busy.values.tolist(), strict=True):
            system = run.cells[cell].system
            if not run.embedded(system):
                found[system, phase] = max(found.get((system, phase), 0.0), value)
    return _generator_bound(run) + [
        Busy(
            phase,
            f"The client used up to {quantity.percent(value)} of its cores in phase {phase} against "
            f"{run.title(system)}: it may have limited the result.",
        )
        for (system, phase), value in found.items()
    ]


def _busy(run: Run) -> list[str]:
    return [one.sentence for one in busy_client(run)]


def _generator_bound(run: Run) -> list[Busy]:
    """Return the phases in which workers waited for the generator for more than half of their time."""
    counted = Counter(
        (run.cells[cell].system, phase)
        for phase, numbers in run.phases_of("generator_bound").items()
        for cell in run.places.cells[numbers.places].tolist()
    )
    return [
        Busy(
            phase,
            f"Benchload limited the result of {run.title(system)} in phase {phase} because its workers waited for "
            f"generated rows for more than half of the time in {count} {'trial' if count == 1 else 'trials'}.",
        )
        for (system, phase), count in counted.items()
    ]


def shared_cores(run: Run) -> list[str]:
    """Return in how many trials server and client ran on the same cores, and why."""
    found: dict[str, int] = {}
    alike = run.ok.group_by("system", "confinement", maintain_order=True).len()
    for system, held, trials in alike.iter_rows():
        confinement = json.loads(held) if held and not run.embedded(system) else {}
        pinning = str(confinement.get("pinning") or "")
        if pinning and confinement.get("client_cores") is None:
            why = pinning.partition(": ")[2] or pinning
            found[why] = found.get(why, 0) + trials
    return [
        f"In {count} trials, the server and the client ran on the same cores: {why}."
        for why, count in found.items()
    ]


def _waited(run: Run) -> list[str]:
    """Return the phases in which workers waited for the file of single operations."""
    waits = {
        phase: float(numbers.values.max()) for phase, numbers in run.phases_of("record_stall_seconds").items()
    }
    return [
        f"Workers waited up to {quantity.number(value, 2)} s for the file of single operations in phase {phase}. "
        "Without --record-operations, they would have done more operations."
        for phase, value in waits.items()
        if value > WAITED_SECONDS
    ]


UNCONTROLLED = {
    "not controlled": "Checks of the machine that did not pass",
    "unknown": "Checks of the machine that could not be made",
}
"""State of a check → start of the sentence that lists those in it."""


def _machine(run: Run) -> list[str]:
    found = []
    stolen = run.phases_of("machine_steal_fraction").values()
    steal = max((float(numbers.values.max()) for numbers in stolen), default=0.0)
    if steal > STOLEN:
        found.append(
            f"The hypervisor stole up to {quantity.percent(steal)} of the machine's time during a phase."
        )
    controls = [one for one in run.fact_list("controls") if isinstance(one, dict)]
    for state in ("not controlled", "unknown"):
        if loose := [str(one.get("control")) for one in controls if one.get("state") == state]:
            found.append(f"{UNCONTROLLED[state]}: {', '.join(loose)}.")
    states = run.ok["cache_state"].drop_nulls().unique().sort().to_list()
    if states:
        found.append(f"Caches at the start of the timed phases: {', '.join(states)}.")
    ratio = run.ok["data_to_memory"].max()
    # A publication's own tools write their own data.
    if isinstance(ratio, float) and ratio < 1 and not run.phases_having(lambda one: one.own_data):
        found.append(
            f"The data is {quantity.number(ratio, 2)} times as large as the memory, so it fits into caches."
        )
    return found


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


def _disks(run: Run) -> list[str]:
    return [f"{wording.one_device(**one.facts)}." for one in one_device(run)]


def _listening(run: Run) -> list[str]:
    """Return the systems that other machines could reach during the measurement."""
    text = (
        "SELECT t.system FROM checks c JOIN trials t USING (trial_id) WHERE t.run_id = ? AND t.status = 'ok' "
        "AND c.kind = 'listening' AND c.found <> '0' GROUP BY t.system ORDER BY min(t.\"index\")"
    )
    declared = run.systems
    return [
        f"{run.title(name)} listened on addresses that other machines can reach: "
        f"{declared.get(name, {}).get('listens_beyond') or 'its declaration gives no reason'}."
        for name in run.query(text)["system"]
    ]


def _elsewhere(run: Run) -> list[str]:
    """Return what was not measured, and the largest difference between the clocks of several machines."""
    reasons: dict[str, set[str]] = {}
    apart = 0.0
    different = run.ok.select("unmeasured", "placement").unique(maintain_order=True)
    for unmeasured, placement in different.iter_rows():
        for metric, reason in (json.loads(unmeasured) if unmeasured else {}).items():
            reasons.setdefault(reason, set()).add(metric)
        for client in json.loads(placement)["clients"] if placement else ():
            apart = max(apart, abs(client["clock_offset_seconds"]) + client["clock_error_seconds"])
    found = [f"Not measured: {', '.join(sorted(names))}, because {why}." for why, names in reasons.items()]
    if apart:
        found.append(f"Clients ran on other machines whose clocks differed by at most {1000 * apart:.3g} ms.")
    return found


def _order(run: Run) -> list[str]:
    found = order.of_run(run)
    if found is None or not found.present or found.factor is None:
        return []
    return [
        (
            f"Each later position in a block changed the throughput by {100 * (found.factor - 1):+.1f} % "
            f"(95 % CI {100 * ((found.low or 0) - 1):+.1f} to {100 * ((found.high or 0) - 1):+.1f} %)."
        )
    ]


def _compared(run: Run) -> set[tuple[str, str]]:
    """Return the (phase, metric) pairs that a run or its claims compare."""
    claimed = {(one.get("phase"), one.get("metric")) for one in run.declared.get("claims") or []}
    return {*comparison.metrics(run), *claimed}


def _noise(run: Run) -> list[str]:
    if comparison.baseline(run) is None:
        return []
    systems = sorted({cell.system for cell in run.cells})
    held = {
        pair: one
        for pair in sorted(_compared(run) & noise.known(run).keys())
        if (one := noise.of(run, pair, *systems)) is not None
    }
    if not held:
        return [
            "The noise between equal setups is unknown (./bench aa measures it), so small differences may be noise."
        ]
    runs = ", ".join(sorted({name for one in held.values() for name in one.runs}))
    counted, beyond = _differ(held)
    counted = f"Systems were compared with themselves in {runs}. {counted}"
    if not beyond:
        return [f"{counted} No number differs by more than chance, so no interval is wider for it."]
    return [
        f"{counted} {beyond} Such a difference widens the intervals of its metric, for the systems that it was seen in."
    ]


def itself(run: Run) -> str:
    """Return what an A/A run found: how many of its ratios exclude 1, and whether that is more than chance.

    It is about the numbers that the experiment's claims and comparisons use; empty if none has an interval.
    """
    by_pair: dict[tuple[str, str], list[noise.Itself]] = {}
    for ratio in noise.measured(run, _compared(run) & {*run.pairs()}):
        by_pair.setdefault((ratio.phase, ratio.metric), []).append(ratio)
    found = {pair: one for pair, held in by_pair.items() if (one := noise.between(held)) is not None}
    if not found:
        return ""
    counted, beyond = _differ(found)
    systems = sorted({run.title(cell.system) for cell in run.cells})
    who = f"{wording.listing(systems)} {'was' if len(systems) == 1 else 'were'} compared with "
    who += "itself" if len(systems) == 1 else "themselves"
    return (
        f"{who}: every setup ran twice in each block, under the labels A and B. {counted} "
        f"{beyond or 'No number differs by more than chance.'}"
    )


def _differ(held: Mapping[tuple[str, str], Noise]) -> tuple[str, str]:
    """Return how many ratios of equal setups exclude 1, and by how much they differ beyond chance, or ""."""
    apart, ratios = sum(one.apart for one in held.values()), sum(one.varying for one in held.values())
    verb = "has" if apart <= 1 else "have"
    counted = f"Of {ratios} ratios of equal setups, {apart or 'none'} {verb} a 95 % CI without 1 "
    counted += "(5 % are expected by chance)."
    pair, most = max(held.items(), key=lambda each: each[1].variance)
    if not most.variance:
        return counted, ""
    words = f"{quantity.percent(most.factor - 1)} ({describe(pair[1]).title}, {pair[0]})"
    return (
        counted,
        f"Beyond the scatter of their trials, two equal setups on this processor differ by up to {words}.",
    )


def _earlier(run: Run) -> list[str]:
    """Count the earlier runs of the experiment: a run that is repeated until it pleases proves little."""
    held = [
        one
        for one in run.fact_list("earlier_runs")
        if not one["against_itself"] and one["trials"] and one["machine"] in (None, run.machine)
    ]
    if not held:
        return []
    profiles = Counter(str(one["profile"]) for one in held)
    named = ", ".join(f"{count} of profile {profile}" for profile, count in profiles.items())
    return [f"Earlier runs of this experiment on this machine: {named}. run.json names each of them."]


_PARTS: tuple[Callable[[Run], list[str]], ...] = (
    _mixed, _size, _trials, _brief, _pace, _embedded, _busy, _waited, shared_cores, _machine,
    _disks, _listening, _elsewhere, _order, _noise, _earlier,
)  # fmt: skip
