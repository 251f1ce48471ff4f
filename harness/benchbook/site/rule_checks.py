"""Whether a run kept a rule of measurement: one function a rule, named in ``rules.toml``.

Each returns a mark and the reason in words; they read what was recorded and assume nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from benchbook.report import answer, cell, versus
from benchbook.report import limit as limits
from benchbook.report.estimate import estimates
from benchbook.report.floor import known_floors
from benchbook.report.results import Run
from benchbook.site.rule_marks import Finding, latencies, latency, outliers, sources


def trials(run: Run) -> Finding:
    """Rule 1: enough trials for an interval, and for a dependable one."""
    tried = set(run.frame("trials").filter(pl.col("status") != "skipped")["cell"])
    every = [one for one in cell.cells(run) if one.planned]
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
    base = versus.baseline(run)
    found = [
        one for pair in versus.metrics(run) for one in (versus.against(run, *pair, base) if base else [])
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
    known = known_floors(run)
    wanted = {(one.name, *pair) for one in cell.cells(run) if one.ok for pair in versus.metrics(run)}
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
    servers = any(not cell.embedded(run, one.system) for one in cell.cells(run))
    if not servers:
        return Finding("no matter here", "embedded systems share the client's process")
    if not calibrated:
        return Finding("not kept", "no calibration was recorded")
    if loose := [*busy, *limits.shared_cores(run)]:
        return Finding("partly", " ".join(loose))
    return Finding("kept", "calibrated, and below 80 % of its cores")


def same_work(run: Run) -> Finding:
    """Rule 9: counts and answers agree, and nothing failed."""
    if faults := answer.faults(run):
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
    from benchbook.report.tables import durability as tables

    table = tables.table(run)
    rows = getattr(table, "rows", [])
    silent = [str(row[0]) for row in rows if "not declared" in row]
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
    from benchbook.analyse import little as law

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
    kinds = {cell.embedded(run, one.system) for one in cell.cells(run)}
    if len(kinds) < 2:
        return Finding("no matter here", "all systems of this run are of one kind")
    return Finding("kept", "answered for apart")


CHECKS: dict[str, Callable[[Run], Finding]] = {
    check.__name__: check
    for check in (
        trials, order, intervals, noise, caches, client, same_work, durability, arms, settled, environment,
        provenance, claims, little, queries, embedded, outliers, latency, sources,
    )
}  # fmt: skip
