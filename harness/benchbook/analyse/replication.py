"""Published comparisons that several runs made alike, and how well some of these runs foresee the others.

A case is one metric of two setups. Runs share a case if everything that they did for it is equal: setups, options,
data, queries, versions and configurations. Each processor (or run) of a case is left out in turn, and its ratio is
compared with the interval that the others give.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from benchbook.analyse import claims, comparison, judgement, noise, processors
from benchbook.analyse.judgement import Expectation, evidence
from benchbook.analyse.model import Fit
from benchbook.analyse.paired import spread
from benchbook.analyse.processors import Between, Estimate, estimate
from benchbook.analyse.ratio import ratio
from benchbook.analyse.run import Run
from benchbook.analyse.values import TRIAL, Cell, Pair, Validity
from benchbook.declare.experiment import LIMIT_FACTORS
from benchbook.declare.metric import is_main
from benchbook.declare.workload import workloads

Kind = Literal["speed", "tail", "storage", "processor time", "memory", "size"]
KINDS: dict[Kind, str] = {
    "speed": "rates and typical latencies",
    "tail": "99th percentiles of latency",
    "storage": "rates and latencies bound by storage",
    "processor time": "processor time of the server",
    "memory": "memory of the server",
    "size": "bytes on disk",
}
"""Classes of metrics that differ in how much processors change their ratios."""
_KIND_OF: dict[str, Kind] = {
    "server_cpu_seconds": "processor time",
    "server_rss_peak_bytes": "memory",
    "disk_bytes": "size", "bytes_per_value": "size", "bytes_per_row": "size",
    "latency_p99": "tail", "latency_p50": "speed", "latency_mean": "speed",
    "seconds": "speed", "acknowledged_seconds": "speed",
}  # fmt: skip
USED: tuple[Kind, ...] = ("processor time", "memory", "size")
"""Classes that tables do not show by default."""
FLUSHES = 50.0
"""Flushes of the device per second from which a phase is bound by storage."""
_LOCAL = "local"


def kind_of(metric: str) -> Kind | None:
    """Return the class of a metric, apart from storage; None for a metric that is not part of this.

    >>> kind_of("rows_per_second"), kind_of("disk_bytes"), kind_of("retries")
    ('speed', 'size', None)
    """
    return _KIND_OF.get(metric, "speed" if "per_second" in metric else None)


@dataclass(frozen=True)
class Measured:
    """The ratio of a case in one run."""

    run_id: str
    processor: int
    """Its place among the processors of the experiment."""
    fit: Fit
    """The estimate with the noise between equal setups, which is always added."""
    alone: Fit
    """The estimate that pages of this run show."""


@dataclass(frozen=True)
class Case:
    """One metric of two setups, in all runs that measured it alike."""

    experiment: str
    kind: Kind
    phase: str
    metric: str
    sides: tuple[str, str]
    """The two setups: numerator and denominator."""
    found: tuple[Measured, ...]
    claim: str | None = None
    """The claim that it is a case of; None for a metric of two setups that a page compares."""
    expected: Expectation | None = None

    @property
    def processors(self) -> dict[int, list[Measured]]:
        """Processor → its runs."""
        made: dict[int, list[Measured]] = {}
        for one in self.found:
            made.setdefault(one.processor, []).append(one)
        return made

    def estimate(self, prior: Between) -> Estimate:
        """Return the estimate over all its runs."""
        return estimate([[one.fit for one in held] for held in self.processors.values()], prior)

    def answer(self, fit: Fit) -> str:
        """Return what an estimate says: the verdict on the claim, else which side is higher."""
        if self.expected is not None:
            return judgement.word(evidence(fit, self.expected))
        low, high = fit.interval()
        return "higher" if low > 0 else "lower" if high < 0 else "inconclusive"


def opposite(one: str, other: str) -> bool:
    """Return whether two answers contradict each other.

    >>> opposite("reproduced", "contradicted"), opposite("higher", "lower"), opposite("higher", "inconclusive")
    (True, True, False)
    """
    both = {one, other}
    return both == {"higher", "lower"} or ("contradicted" in both and bool(both.intersection(claims.HOLDS)))


# Cases of an experiment


@dataclass
class _Collected:
    """A case while runs are read."""

    first: Case
    found: list[Measured] = field(default_factory=list)
    flushes: float = 0.0


def cases(experiment: str, runs: Sequence[tuple[int, Run]], *, of_claims: bool = False) -> list[Case]:
    """Return the cases of an experiment, from its runs with the number of their processor.

    Every pair of setups that a page compares gives a case for each metric of ``KINDS``, and each case of a claim gives
    one more, with its expectation. With ``of_claims``, only these are made.
    """
    made: dict[Hashable, _Collected] = {}
    for processor, run in runs:
        with run.connected():
            for key, one, measured, flushes in _of_run(experiment, processor, run, of_claims):
                held = made.setdefault(key, _Collected(one))
                held.found.append(measured)
                held.flushes = max(held.flushes, flushes)
    return [_finished(one) for one in made.values()]


def _finished(one: _Collected) -> Case:
    first = one.first
    slow = first.kind in ("speed", "tail") and one.flushes > FLUSHES
    return Case(
        first.experiment, "storage" if slow and first.kind == "speed" else first.kind, first.phase, first.metric,
        first.sides, tuple(one.found), first.claim, first.expected,
    )  # fmt: skip


def _of_run(
    experiment: str, processor: int, run: Run, of_claims: bool
) -> Iterator[tuple[Hashable, Case, Measured, float]]:
    """Yield each case of a run: its key, the case without results, its result, and flushes per second."""
    metrics = [
        (pair, kind)
        for pair in run.pairs()
        if pair[0] in _phases(run) and (kind := kind_of(pair[1])) and (is_main(pair[1]) or kind in USED)
    ]
    for above, below in [] if of_claims else _compared(run):
        for pair, kind in metrics:
            yield from _one(experiment, processor, run, kind, (above, below), pair)
    declared = {one.id: one for one in claims.declared(run)[0]}
    for judged in claims.of_run(run) if declared else ():
        claim = declared[judged.id]
        found = kind_of(claim.metric)
        for cell in judged.cells:
            sides = (cell.sides.cells[-1], cell.sides.cells[0])
            if found is None or cell.unfit or claim.monotonic or sides[0] == sides[1]:
                continue
            yield from _one(
                experiment,
                processor,
                run,
                found,
                sides,
                claim.pair,
                claim.validity,
                (claim.id, cell.expected),
            )


def _phases(run: Run) -> set[str]:
    """Return the phases that do the work of an experiment, and the whole trial."""
    return {TRIAL, *(str(one["name"]) for one in run.facts("planned").get("phases") or [])}


def _compared(run: Run) -> list[tuple[Cell, Cell]]:
    """Return the setups that the page of a run compares: those of its claims, else each with the baseline."""
    if run.declared.get("claims"):
        sides = [cell.sides.cells for one in claims.of_run(run) for cell in one.cells]
        return list(dict.fromkeys((held[-1], held[0]) for held in sides if held[-1] != held[0]))
    base = comparison.baseline(run)
    return [(cell, base) for cell in run.cells if base is not None and cell.ok and cell.name != base.name]


def _one(
    experiment: str, processor: int, run: Run, kind: Kind, sides: tuple[Cell, Cell], pair: Pair,
    validity: Validity = "trial", stated: tuple[str | None, Expectation | None] = (None, None),
) -> Iterator[tuple[Hashable, Case, Measured, float]]:  # fmt: skip
    of, over = (run.values(cell, pair, validity).by_block for cell in sides)
    own = ratio(of, over, spread(run, pair, validity)).fit
    if own is None:
        return
    systems = [cell.system for cell in sides]
    itself = [one for one in noise.known(run).get(pair, ()) if one.system in systems]
    fits = [one.ratio.fit for one in itself if one.ratio.fit is not None]
    measured = Measured(
        run.run_id, processor, own.with_noise(processors.equal(fits)),
        own.with_noise(noise.of(run, pair, *systems)),
    )  # fmt: skip
    mounted = any(cell.levels.get("storage", _LOCAL) != _LOCAL for cell in sides)
    flushes = FLUSHES + 1 if mounted else max(_flushes(run, cell, pair[0]) for cell in sides)
    case = Case(experiment, kind, *pair, (sides[0].name, sides[1].name), (), *stated)
    key = (run.profile, *pair, *(_work(run, cell, pair[0]) for cell in sides), *stated)
    yield key, case, measured, flushes


def _flushes(run: Run, cell: Cell, phase: str) -> float:
    """Return flushes of the device per second of a phase; 0 where they were not recorded."""
    counts = run.values(cell, (phase, "device_flushes")).by_block.values()
    seconds = run.phase_seconds(cell, phase)
    return sum(counts) / len(counts) / seconds if counts and seconds else 0.0


def _work(run: Run, cell: Cell, phase: str) -> Hashable:
    """Return everything that a setup did in a phase, as a key; a limit that all setups share is the machine's."""
    varying = dict(cell.varying)
    levels = tuple(one for one in cell.size if one[0] not in LIMIT_FACTORS or one[0] in varying)
    planned = [str(one["name"]) for one in run.facts("planned").get("phases") or []]
    before = planned[: planned.index(phase)] if phase in planned else planned
    done = [name for name in before if name in run.loads] + [phase] * (phase in planned)
    asked = any(name in run.queries or name not in run.loads for name in done)
    return (
        levels, cell.datasets, cell.queries if asked else (), cell.configurations, cell.versions,
        tuple(_options(run, name) for name in done),
    )  # fmt: skip


@functools.cache
def _options(run: Run, phase: str) -> str:
    """Return the options of a phase as it was planned, as text; those that its plan did not know are the defaults."""
    planned = next(one for one in run.facts("planned")["phases"] if one["name"] == phase)
    stated = planned.get("options") or {}
    known = workloads().get(planned["workload"])
    with contextlib.suppress(ValueError):
        stated = known.options.model_validate(stated).model_dump(mode="json") if known else stated
    return json.dumps([planned["workload"], stated, planned.get("only")], sort_keys=True)
