"""Check whether a run kept the rules of measurement: one function for each rule in ``rules.toml``.

Each function reads only what the run recorded, and returns a mark and the reason.
"""

from __future__ import annotations

import functools
import json
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from benchbook.analyse import comparison, limits
from benchbook.analyse import same_work as work
from benchbook.analyse.cells import labelled
from benchbook.analyse.comparison import estimates
from benchbook.analyse.noise import known as noise_known
from benchbook.analyse.reason import Reason
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.host.texts import number

Mark = Literal["kept", "partly", "not kept", "not recorded", "not applicable"]

DURABILITY = {
    "fsync": "Flush to disk",
    "wal": "Write-ahead log",
    "replication": "Replication",
    "compression": "Compression",
}
"""Key of a system's declared durability → title in reports."""

PACE = {
    "short": "are too short for a label",
    "drifting": "did not reach a steady rate",
    "warming": "started at a different rate than they reached later",
}
"""Label of ``measure.steady`` → text; phases that are steady need none."""


class Finding(NamedTuple):
    """The mark of one rule, with its reason."""

    mark: Mark
    why: str = ""
    because: tuple[Reason, ...] = ()
    """The reasons in place of ``why``, if they are those of other verdicts too."""


def durability_of(run: Run, system: str, arm: str) -> dict[str, Any]:
    """Return the declared durability of a system in an arm: key of ``DURABILITY`` → text."""
    known = run.systems.get(system, {})
    named = (known.get("arms") or {}).get(arm) or {}
    return {
        key: text for key, text in (named.get("durability") or known.get("durability") or {}).items() if text
    }


def trials(run: Run) -> Finding:
    """Rule 1: there are enough trials for an interval."""
    tried = set(run.frame("trials").filter(pl.col("status") != "skipped")["cell"])
    every = [one for one in labelled(run) if one.trials]
    fewest = min((one.ok for one in every if one.name in tried), default=0)
    why = f"{fewest} trials in the smallest setup"
    if skipped := sum(one.name not in tried for one in every):
        why += f"; {skipped} of {len(every)} setups were skipped"
    if fewest < 3:
        return Finding("not kept", why)
    return Finding("partly" if fewest < 10 else "kept", why)


def order(run: Run) -> Finding:
    """Rule 2: the run has several blocks in a stored, shuffled order."""
    blocks = run.frame("trials")["block"].n_unique()
    seed = run.info["order_seed"]
    if seed is None or blocks < 2:
        return Finding("not kept", "with one block, order and drift cannot be distinguished")
    return Finding("kept", f"{blocks} blocks, order seed {seed}")


def intervals(run: Run) -> Finding:
    """Rule 3: comparisons are ratios with intervals."""
    base = comparison.baseline(run)
    found = [
        one
        for pair in comparison.metrics(run)
        for one in (comparison.against(run, *pair, base) if base else [])
    ]
    if not found:
        return Finding(
            "not applicable",
            "no two setups have a number that this rule compares (the compared metrics of the workloads, and size)",
        )
    without = sum(one.ratio.low is None for one in found)
    why = f"{len(found) - without} of {len(found)} ratios have an interval"
    return Finding("partly" if without else "kept", why)


def noise(run: Run) -> Finding:
    """Rule 4: the noise floor of the machine is known from A/A runs."""
    if run.against_itself:
        return Finding("kept", "this run is the A/A run that measures the floor")
    known = noise_known(run)
    wanted = set(comparison.metrics(run)) & run.measured.keys()
    if not known:
        return Finding("not kept", "there is no A/A run of this experiment on this processor")
    if missing := len(wanted - known.keys()):
        return Finding("partly", f"known for {len(wanted) - missing} of {len(wanted)} compared numbers")
    return Finding("kept", "the verdicts use the floor of this processor's A/A runs")


def caches(run: Run) -> Finding:
    """Rule 6: the state of the caches is recorded, and bytes read do not contradict it."""
    unknown = run.ok["cache_state"].null_count()
    states = run.ok["cache_state"].drop_nulls().unique().sort().to_list()
    if not states or unknown:
        return Finding("not recorded", f"not recorded in {unknown} trials")
    read: Counter[str] = Counter()
    for metric in ("server_read_bytes", "storage_bucket_read_bytes", "device_read_bytes"):
        for phase in run.phases_of(metric):
            if phase not in run.loads:  # caches are dropped after the load
                read.update(run.by_trial(phase, metric))
    cold = run.ok.filter(pl.col("cache_state") == "cold")["trial_id"].to_list()
    if doubtful := sum(one in read and not read[one] for one in cold):
        return Finding(
            "not kept", f"{doubtful} trials are recorded as cold but read nothing from the storage"
        )
    if "lukewarm" in states:
        return Finding(
            "partly", f"{', '.join(states)}: caches could not be dropped, or kept some of the data"
        )
    verified = (
        ", verified by bytes read from the storage" if cold and all(one in read for one in cold) else ""
    )
    return Finding("kept", ", ".join(states) + verified)


def client(run: Run) -> Finding:
    """Rule 8: the client was calibrated against a null server and did not limit the result."""
    busy = [one.sentence for one in limits.busy_client(run)]
    calibrated = bool(run.fact_list("calibration"))
    servers = any(not run.embedded(one.system) for one in labelled(run))
    if not servers:
        return Finding("not applicable", "embedded systems share the client's process")
    if not calibrated:
        return Finding("not recorded", "no calibration was recorded")
    if not run.phases_of("client_cpu_fraction"):
        return Finding("not recorded", "the share of its cores that the client used was not recorded")
    if (shortest := limits.calibrated_seconds(run)) < limits.BRIEF_SECONDS:
        return Finding(
            "partly", f"the calibration lasted {shortest:.2g} s, too short to show the client's ceiling"
        )
    if loose := [*busy, *limits.shared_cores(run)]:
        return Finding("partly", " ".join(loose))
    return Finding("kept", "calibrated; the client used less than 80 % of its cores")


def same_work(run: Run) -> Finding:
    """Rule 9: counts and answers agree, and no operation failed."""
    if faults := work.faults(run):
        return Finding("not kept", because=tuple(faults))
    failed = run.frame("errors")["operations"].sum() or 0
    passed, wrong = (sum(counts[kind] for counts in run.checks.values()) for kind in (0, 1))
    if failed or wrong:
        parts = [f"{failed:,} operations"] if failed else []
        parts += [f"{wrong:,} checks"] if wrong else []
        return Finding("partly", f"{' and '.join(parts)} failed")
    if not passed:
        return Finding("not recorded", "nothing was checked")
    lost = (run.frame("checks")["kind"] == "optional").sum()
    counted = f"; {lost} others count rows that the system may lose" if lost else ""
    return Finding("kept", f"{passed} checks passed{counted}")


def durability(run: Run) -> Finding:
    """Rule 10: every system declares its durability."""
    silent = [
        run.title(system)
        for system, arm in dict.fromkeys((cell.system, cell.arm) for cell in run.cells)
        if not set(DURABILITY) <= durability_of(run, system, arm).keys()
        and not (run.facts("programs").get(system) or {}).get("url")
    ]
    return Finding("partly", f"not declared: {', '.join(silent)}") if silent else Finding("kept", "declared")


def arms(run: Run) -> Finding:
    """Rule 11: each trial has an arm."""
    found = run.frame("trials")["arm"].drop_nulls().unique().sort().to_list()
    return Finding("kept", ", ".join(found)) if found else Finding("not recorded", "no arm was recorded")


def settled(run: Run) -> Finding:
    """Rule 12: both acknowledged and settled times are recorded."""
    loads = run.loads
    if not loads:
        return Finding("not applicable", "no phase has the workload load")
    unmeasured = {name for text in run.ok["unmeasured"].drop_nulls().unique() for name in json.loads(text)}
    if any(name.startswith("settled_seconds") for name in unmeasured):
        return Finding("not applicable", "loads ended after a time; sizes and counts are of settled data")
    known = [one.points for phase in loads for one in estimates(run, phase, "settled_seconds")]
    return (
        Finding("kept", "both times are recorded")
        if any(known)
        else Finding("not recorded", "no settled time was recorded")
    )


def environment(run: Run) -> Finding:
    """Rule 13: the environment is recorded and controlled."""
    controls = [one for one in run.fact_list("controls") if isinstance(one, dict)]
    if not run.facts("host"):
        return Finding("not recorded", "the machine was not recorded")
    loose = [str(one.get("control")) for one in controls if one.get("state") != "controlled"]
    why = f"{len(controls) - len(loose)} of {len(controls)} conditions controlled"
    return Finding("partly", f"{why}; not controlled: {', '.join(loose)}") if loose else Finding("kept", why)


def provenance(run: Run) -> Finding:
    """Rule 14: the run has digests and a revision without uncommitted changes."""
    facts = run.facts("provenance")
    if run.mixed:
        return Finding("not kept", run.mixed)
    if not facts.get("git_revision"):
        return Finding("partly", "the revision is unknown")
    if facts.get("git_dirty"):
        return Finding("partly", f"revision {str(facts['git_revision'])[:12]} with uncommitted changes")
    return Finding("kept", f"revision {str(facts['git_revision'])[:12]}")


def claims(run: Run) -> Finding:
    """Rule 15: the declaration that the run stored contains the claims."""
    declared = (run.facts("declared").get("experiment") or {}).get("claims") or []
    if not declared:
        return Finding("not applicable", "the run checks no published statement")
    return Finding("kept", f"{len(declared)} claims, declared before the run")


def little(run: Run) -> Finding:
    """Rule 17: rate times mean latency equals the operations in flight in every closed loop."""
    from benchbook.analyse import order as law

    planned = _in_flight(run)
    cells = dict(zip(run.places.ids, run.places.cells.tolist(), strict=True))
    wrong: Counter[str] = Counter()
    checked = 0
    # A load has no such rate: its latency does not count the time between batches.
    for workload, phase in run.phases_having(lambda one: one.rate):
        assert workload.rate is not None
        names = (workload.rate.operations, "latency_mean", "in_flight", "offered_per_second")
        rates, means, stated, offered = (run.by_trial(phase, name) for name in names)
        for trial_id in (rates.keys() & means.keys()) - offered.keys():
            checked += 1
            in_flight = stated.get(trial_id) or planned(run.cells[cells[trial_id]], phase)
            wrong[phase] += not law.agree(rates[trial_id] * means[trial_id], in_flight)
    if not checked:
        return Finding("not applicable", "no phase with a closed loop has a rate and a latency")
    why = f"{checked - wrong.total()} of {checked} phases of trials agree"
    return (
        Finding("partly", f"{why}; disagreement in {', '.join(sorted(+wrong))}")
        if wrong.total()
        else Finding("kept", why)
    )


def _in_flight(run: Run) -> Callable[[Cell, str], int]:
    """Return the function that gives the planned workers of a cell's phase: the level of a factor, else the option."""
    phases = run.facts("planned").get("phases") or []
    options = {one["name"]: int(one["options"].get("workers") or 1) for one in phases}
    fixed = {one["name"] for one in phases if "workers" in one.get("fixed", ())}

    def planned(cell: Cell, phase: str) -> int:
        level = cell.levels.get("workers", "")
        given = None if phase in fixed else number(level)
        return options.get(phase, 1) if given is None else given

    return planned


def queries(run: Run) -> Finding:
    """Rule 18: the digest of the queries and the ratio of data to memory are recorded."""
    if not run.queries:
        return Finding("not applicable", "no phase has the workload query")
    missing = [name for name in ("queries_digest", "data_to_memory") if run.ok[name].null_count()]
    return (
        Finding("partly", f"missing: {', '.join(missing)}") if missing else Finding("kept", "both recorded")
    )


def embedded(run: Run) -> Finding:
    """Rule 19: servers and embedded systems are ranked separately."""
    kinds = {run.embedded(one.system) for one in labelled(run)}
    if len(kinds) < 2:
        return Finding("not applicable", "all systems of this run are of one kind")
    return Finding("kept", "ranked separately")


def latencies(run: Run) -> list[str]:
    """Return the phases other than loads whose operations have a latency histogram."""
    held = {phase for phase, kind in _histograms(run) if kind == "latency"}
    return sorted(held - set(run.loads))


def _histograms(run: Run) -> set[tuple[str, str]]:
    """Return (phase, kind) of the histograms of a run."""
    text = (
        "SELECT DISTINCT h.phase, h.kind FROM histograms h JOIN trials t USING (trial_id) WHERE t.run_id = ?"
    )
    return set(run.query(text).iter_rows())


def outliers(run: Run) -> Finding:
    """Rule 5: no trial is dropped, warm-up is marked, and each load and query phase has a label of its pace."""
    timed = len(run.phases_having(lambda one: one.paced))
    if not timed:
        unlabelled = "no trial was dropped; phases of this workload have no label of their pace"
        return (
            Finding("partly", unlabelled)
            if latencies(run)
            else Finding("not applicable", "no phase records operations")
        )
    recorded, untagged = run.query(
        "SELECT count(*), count(*) FILTER (r.warmup IS NULL) FROM intervals r JOIN trials t USING (trial_id) "
        "WHERE t.run_id = ?"
    ).row(0)
    if not recorded:
        return Finding("not recorded", "no intervals were recorded, so warm-up and drift are unknown")
    if untagged:
        return Finding("partly", f"{untagged} intervals are not marked as warm-up or measured")
    labels = limits.labels(run)
    loose = Counter(label for label in labels.values() if label != "steady")
    if len(labels) < run.ok.height * timed:
        return Finding(
            "partly", f"{run.ok.height * timed - len(labels)} phases of trials have no label of their pace"
        )
    if loose:
        counts = ", ".join(f"{count} {PACE[label]}" for label, count in sorted(loose.items()))
        return Finding("partly", f"no trial was dropped; of {len(labels)} phases of trials, {counts}")
    return Finding("kept", "no trial was dropped, warm-up is marked, and every phase was steady")


def latency(run: Run) -> Finding:
    """Rule 7: latencies are whole histograms and count from the intended start in open loops."""
    phases = run.queries or latencies(run)
    if not phases:
        return Finding("not applicable", "the run records no single operations")
    kinds = _histograms(run)
    without = [phase for phase in phases if (phase, "latency") not in kinds]
    if without:
        return Finding("not recorded", f"no histogram of {', '.join(without)}")
    if any(kind == "service" for _, kind in kinds):
        return Finding("kept", "open loop: latency counts from the intended start; service time is separate")
    return Finding(
        "kept", "percentiles come from whole histograms; the loops are closed, so there is no intended start"
    )


def sources(run: Run) -> Finding:
    """Rule 16: every published number has a source, and the defects of its method are listed."""
    from benchbook.declare.defects import publications

    declared: list[dict[str, Any]] = (run.facts("declared").get("experiment") or {}).get("claims") or []
    if not declared:
        return Finding("not applicable", "the run repeats no published number")
    without = [str(claim.get("id")) for claim in declared if not claim.get("source")]
    if without:
        return Finding("not kept", f"no source: {', '.join(without)}")
    if run.info["experiment"] not in {one.experiment for one in publications()}:
        return Finding("partly", "every number has a source; no defects of the published method are listed")
    return Finding("kept", f"{len(declared)} claims with sources; the defects of their method are listed")


CHECKS: dict[str, Callable[[Run], Finding]] = {
    check.__name__: check
    for check in (
        trials, order, intervals, noise, caches, client, same_work, durability, arms, settled, environment,
        provenance, claims, little, queries, embedded, outliers, latency, sources,
    )
}  # fmt: skip


FILE = Path(__file__).with_name("rules.toml")


@dataclass(frozen=True)
class Rule:
    """One rule; ``check`` names the function that checks a run."""

    number: int
    name: str
    rule: str
    check: str

    def finding(self, run: Run) -> Finding:
        """Return whether a run kept the rule, and why."""
        return CHECKS[self.check](run)


@functools.cache
def rules() -> tuple[Rule, ...]:
    """Return the rules in order."""
    stated = tomllib.loads(FILE.read_text(encoding="utf-8"))["rules"]
    return tuple(Rule(number, **one) for number, one in enumerate(stated, 1))
