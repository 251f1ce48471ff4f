"""Check whether a run kept the rules of measurement: one function a rule, named in ``rules.toml``.

Each returns a mark and the reason in words. They read what was recorded and assume nothing.
"""

from __future__ import annotations

import functools
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
from benchbook.analyse.run import Run

DURABILITY = {
    "fsync": "Flush to disk",
    "wal": "Write-ahead log",
    "replication": "Replication",
    "compression": "Compression",
}
"""What a system declares about its acknowledgements: key → what a report calls it."""


def durability_of(run: Run, system: str, arm: str) -> dict[str, Any]:
    """Return what a system declares about its acknowledgements in an arm: key of ``DURABILITY`` → text."""
    known = run.systems.get(system, {})
    named = (known.get("arms") or {}).get(arm) or {}
    return {
        key: text for key, text in (named.get("durability") or known.get("durability") or {}).items() if text
    }


def trials(run: Run) -> Finding:
    """Rule 1: enough trials for an interval, and for a dependable one."""
    tried = set(run.frame("trials").filter(pl.col("status") != "skipped")["cell"])
    every = [one for one in labelled(run) if one.trials]
    fewest = min((one.ok for one in every if one.name in tried), default=0)
    words = f"{fewest} trials in the smallest cell"
    if skipped := sum(one.name not in tried for one in every):
        words += f"; {skipped} of {len(every)} cells were skipped"
    if fewest < 3:
        return Finding("not kept", words)
    return Finding("partly" if fewest < 10 else "kept", words)


def order(run: Run) -> Finding:
    """Rule 2: blocks in a stored, shuffled order."""
    blocks = run.frame("trials")["block"].n_unique()
    seed = run.info["order_seed"]
    if seed is None or blocks < 2:
        return Finding("not kept", "one block, so order and drift cannot be told apart")
    return Finding("kept", f"{blocks} blocks, order seed {seed}")


def intervals(run: Run) -> Finding:
    """Rule 3: ratios with intervals."""
    base = comparison.baseline(run)
    found = [
        one
        for pair in comparison.metrics(run)
        for one in (comparison.against(run, *pair, base) if base else [])
    ]
    if not found:
        return Finding("no matter here", "there are no two cells to compare")
    without = sum(one.ratio.low is None for one in found)
    words = f"{len(found) - without} of {len(found)} ratios have an interval"
    return Finding("partly" if without else "kept", words)


def noise(run: Run) -> Finding:
    """Rule 4: a noise floor of this machine among the published runs."""
    factors = set(run.frame("levels")["factor"].to_list())
    if "aa" in factors:
        return Finding("kept", "this run is the A/A run that gives the floor")
    known = noise_known(run)
    wanted = set(comparison.metrics(run)) & {(phase, metric) for phase, metric in run.pairs()}
    if not known:
        return Finding("not kept", "no A/A run of this machine stands beside it")
    if missing := len(wanted - known.keys()):
        return Finding("partly", f"known for {len(wanted) - missing} of {len(wanted)} compared numbers")
    return Finding("kept", "the verdicts use the floor of this machine's A/A runs")


def caches(run: Run) -> Finding:
    """Rule 6: the state of the caches is recorded, and what was read does not speak against it."""
    unknown = run.ok["cache_state"].null_count()
    states = run.ok["cache_state"].drop_nulls().unique().sort().to_list()
    if not states or unknown:
        return Finding("not kept", f"not recorded of {unknown} trials")
    reads = run.frame("measurements").filter(
        pl.col("metric").is_in(["server_read_bytes", "storage_bucket_read_bytes", "device_read_bytes"])
    )
    read = dict(reads.group_by("trial_id").agg(pl.col("value").sum()).iter_rows())
    cold = run.ok.filter(pl.col("cache_state") == "cold")["trial_id"].to_list()
    if doubtful := sum(read.get(one) == 0 for one in cold):
        return Finding(
            "not kept", f"{doubtful} trials call themselves cold and read nothing from the storage"
        )
    if "lukewarm" in states:
        return Finding(
            "partly", f"{', '.join(states)}: caches could not be dropped, or kept some of the data"
        )
    seen = ", seen by what was read from the storage" if cold and all(one in read for one in cold) else ""
    return Finding("kept", ", ".join(states) + seen)


def client(run: Run) -> Finding:
    """Rule 8: a null-sink calibration, and a client below its ceiling."""
    busy = limits.busy_client(run)
    calibrated = bool(run.fact_list("calibration"))
    servers = any(not run.embedded(one.system) for one in labelled(run))
    if not servers:
        return Finding("no matter here", "embedded systems share the client's process")
    if not calibrated:
        return Finding("not kept", "no calibration was recorded")
    if loose := [*busy, *limits.shared_cores(run)]:
        return Finding("partly", " ".join(loose))
    return Finding("kept", "calibrated, and below 80 % of its cores")


def same_work(run: Run) -> Finding:
    """Rule 9: counts and answers agree, and nothing failed."""
    if faults := work.faults(run):
        return Finding("not kept", "; ".join(faults))
    failed = run.frame("errors")["operations"].sum() or 0
    checks = run.frame("checks")
    wrong = checks.height - int(checks["ok"].sum() or 0)
    if failed or wrong:
        return Finding("partly", f"{failed} operations failed, {wrong} checks did not hold")
    if not checks.height:
        return Finding("not kept", "nothing was checked")
    return Finding("kept", f"{checks.height} checks hold")


def durability(run: Run) -> Finding:
    """Rule 10: every system states its durability."""
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
    return Finding("kept", ", ".join(found)) if found else Finding("not kept", "no arm was recorded")


def settled(run: Run) -> Finding:
    """Rule 12: settled beside acknowledged."""
    loads = run.phases("load")
    if not loads:
        return Finding("no matter here", "no phase loads a database")
    known = [one.points for phase in loads for one in estimates(run, phase, "settled_seconds")]
    return Finding("kept", "both times are there") if any(known) else Finding("not kept", "no settled time")


def environment(run: Run) -> Finding:
    """Rule 13: recorded, and how much of it was controlled."""
    controls = [one for one in run.fact_list("controls") if isinstance(one, dict)]
    if not run.facts("host"):
        return Finding("not kept", "the machine was not recorded")
    loose = [str(one.get("control")) for one in controls if one.get("state") != "controlled"]
    words = f"{len(controls) - len(loose)} of {len(controls)} conditions controlled"
    return Finding("partly", f"{words}; not: {', '.join(loose)}") if loose else Finding("kept", words)


def provenance(run: Run) -> Finding:
    """Rule 14: a revision without changes, and digests."""
    facts = run.facts("provenance")
    if run.mixed:
        return Finding("not kept", run.mixed)
    if not facts.get("git_revision"):
        return Finding("partly", "no revision was known")
    if facts.get("git_dirty"):
        return Finding("partly", f"revision {str(facts['git_revision'])[:12]} with changes of its own")
    return Finding("kept", f"revision {str(facts['git_revision'])[:12]}")


def claims(run: Run) -> Finding:
    """Rule 15: claims stand in the declaration that the run kept."""
    declared = (run.facts("declared").get("experiment") or {}).get("claims") or []
    if not declared:
        return Finding("no matter here", "no published statement is checked")
    return Finding("kept", f"{len(declared)} claims, declared before the run")


def little(run: Run) -> Finding:
    """Rule 17: rate times mean latency is the operations in flight, in every query phase."""
    from benchbook.analyse import order as law

    plans = _workers(run)
    wrong, checked = [], 0
    for phase in run.phases("query"):
        rates = dict(run.measured(phase, "queries_per_second").select("trial_id", "value").iter_rows())
        means = dict(run.measured(phase, "latency_mean").select("trial_id", "value").iter_rows())
        for trial_id in sorted(rates.keys() & means.keys()):
            checked += 1
            if not law.check(rates[trial_id], means[trial_id], plans.get(phase, 1)).ok:
                wrong.append(phase)
    if not checked and latencies(run):
        return Finding("partly", "only phases of queries are held against it, and this run has none")
    if not checked:
        return Finding("no matter here", "no phase states a rate and a latency")
    words = f"{checked - len(wrong)} of {checked} phases of trials agree"
    return (
        Finding("partly", f"{words}; not all of {', '.join(sorted(set(wrong)))}")
        if wrong
        else Finding("kept", words)
    )


def _workers(run: Run) -> dict[str, int]:
    import json

    try:
        path = run.results / "runs" / run.run_id / "plan.json"
        phases = json.loads(path.read_text(encoding="utf-8")).get("phases") or []
        return {str(one["name"]): int((one.get("options") or {}).get("workers") or 1) for one in phases}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def queries(run: Run) -> Finding:
    """Rule 18: one digest of queries, and the ratio of data to memory."""
    if not run.phases("query"):
        return Finding("no matter here", "there are no queries")
    missing = [name for name in ("queries_digest", "data_to_memory") if run.ok[name].null_count()]
    return (
        Finding("partly", f"missing: {', '.join(missing)}") if missing else Finding("kept", "both recorded")
    )


def embedded(run: Run) -> Finding:
    """Rule 19: whether the two kinds stand in one run at all."""
    kinds = {run.embedded(one.system) for one in labelled(run)}
    if len(kinds) < 2:
        return Finding("no matter here", "all systems of this run are of one kind")
    return Finding("kept", "answered for apart")


# Marks of the rules that are judged from operations, latencies and sources; see ``rule_checks``.

Mark = Literal["kept", "partly", "not kept", "no matter here"]


PACE = {
    "short": "are too short to tell whether they ran at one pace",
    "drifting": "were still changing",
    "warming": "began at another pace",
}
"""Labels of ``analyse.steady`` in words."""


class Finding(NamedTuple):
    """What a run did about one rule."""

    mark: Mark
    why: str


def latencies(run: Run) -> list[str]:
    """Return the phases other than loads whose operations have a histogram of latency."""
    held = run.frame("histograms").filter(pl.col("kind") == "latency")["phase"].unique()
    return sorted(set(held) - set(run.phases("load")))


def outliers(run: Run) -> Finding:
    """Rule 5: warm-up is tagged, and each load and query phase says whether it ran at one pace."""
    intervals = run.frame("intervals")
    timed = len(run.phases("load")) + len(run.phases("query"))
    if not timed:
        unlabelled = "no trial was dropped; phases of this workload get no label of their pace"
        nothing = "no phase has operations of its own"
        return Finding("partly", unlabelled) if latencies(run) else Finding("no matter here", nothing)
    if not intervals.height:
        return Finding("not kept", "no intervals were recorded, so nothing tells warm-up and drift")
    untagged = intervals["warmup"].null_count()
    if untagged:
        return Finding("partly", f"{untagged} intervals do not say whether they are warm-up")
    labels = limits.labels(run)
    loose = Counter(label for label in labels.values() if label != "steady")
    if len(labels) < run.ok.height * timed:
        return Finding(
            "partly", f"{run.ok.height * timed - len(labels)} phases of trials have no label of pace"
        )
    if loose:
        words = ", ".join(f"{count} {PACE[label]}" for label, count in sorted(loose.items()))
        return Finding("partly", f"no trial was dropped; of {len(labels)} phases of trials {words}")
    return Finding("kept", "no trial was dropped, warm-up is tagged, and every phase ran at one pace")


def latency(run: Run) -> Finding:
    """Rule 7: whole histograms, and in open loops the intended start beside the actual one."""
    phases = run.phases("query") or latencies(run)
    if not phases:
        return Finding("no matter here", "no latencies are reported")
    kinds = run.frame("histograms").select("phase", "kind").unique().rows()
    without = [phase for phase in phases if (phase, "latency") not in kinds]
    if without:
        return Finding("not kept", f"no histogram of {', '.join(without)}")
    if any(kind == "service" for _, kind in kinds):
        return Finding("kept", "open loop: from the intended start, with the service time beside it")
    return Finding(
        "kept", "percentiles come from whole histograms; the loops are closed, so no start is intended"
    )


def sources(run: Run) -> Finding:
    """Rule 16: every published number has its source, and the defects of its method are listed."""
    from benchbook.declare.defects import publications

    declared: list[dict[str, Any]] = (run.facts("declared").get("experiment") or {}).get("claims") or []
    if not declared:
        return Finding("no matter here", "no published number is repeated")
    without = [str(claim.get("id")) for claim in declared if not claim.get("source")]
    if without:
        return Finding("not kept", f"no source: {', '.join(without)}")
    if run.info["experiment"] not in {one.experiment for one in publications()}:
        return Finding("partly", "every number has its source; no defects of the published method are listed")
    return Finding("kept", f"{len(declared)} claims with their sources, the defects of their method listed")


CHECKS: dict[str, Callable[[Run], Finding]] = {
    check.__name__: check
    for check in (
        trials, order, intervals, noise, caches, client, same_work, durability, arms, settled, environment,
        provenance, claims, little, queries, embedded, outliers, latency, sources,
    )
}  # fmt: skip


FILE = Path(__file__).with_name("rules.toml")
ALWAYS = Finding("kept", "by the way the program works")
"""Of rules that the program has no way to break."""


@dataclass(frozen=True)
class Rule:
    """One rule; ``check`` names the function that says of a run whether it was kept."""

    number: int
    name: str
    rule: str
    check: str | None = None

    def finding(self, run: Run) -> Finding:
        """Say whether a run kept it."""
        return CHECKS[self.check](run) if self.check else ALWAYS


@functools.cache
def rules() -> tuple[Rule, ...]:
    """Return the rules in their order."""
    stated = tomllib.loads(FILE.read_text(encoding="utf-8"))["rules"]
    return tuple(Rule(number, **one) for number, one in enumerate(stated, 1))
