"""Check whether a run kept the rules of measurement: one function for each rule in ``rules.toml``.

Each function reads only what the run recorded, and returns a mark and its reasons.
"""

from __future__ import annotations

import contextlib
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
from benchbook.analyse.reason import Reason, because
from benchbook.analyse.run import Run
from benchbook.analyse.values import Cell
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.checkout import layers
from benchbook.errors import RequestError
from benchbook.host.texts import number
from benchbook.record.rerun import of_declarations

Mark = Literal["kept", "partly", "not kept", "not recorded", "not applicable"]

DURABILITY = {
    "fsync": "Flush to disk",
    "wal": "Write-ahead log",
    "replication": "Replication",
    "compression": "Compression",
}
"""Key of a system's declared durability → title in reports."""


class Finding(NamedTuple):
    """The mark of one rule, with its reasons."""

    mark: Mark
    because: tuple[Reason, ...]


def _found(mark: Mark, code: str, **facts: Any) -> Finding:
    return Finding(mark, (because(code, **facts),))


def durability_of(run: Run, system: str, arm: str) -> dict[str, Any]:
    """Return the declared durability of a system in an arm: key of ``DURABILITY`` → text.

    It is that of the run, or that of today (with the key ``corrected``) if it was corrected since.
    """
    known = run.systems.get(system, {})
    named = (known.get("arms") or {}).get(arm) or {}
    stated = named.get("durability") or known.get("durability") or {}
    today = _durability_of_today(layers(), system, arm)
    if today.get("corrected") and today["corrected"] != stated.get("corrected"):
        stated = today
    return {key: text for key, text in stated.items() if text}


@functools.cache
def _durability_of_today(known: tuple[Path, ...], system: str, arm: str) -> dict[str, Any]:
    with contextlib.suppress(RequestError):  # a system that none declares, or that is being edited
        stated = Catalogue(*known).unchecked("system", system)
        named = (stated.get("arms") or {}).get(arm) or {}
        return dict(named.get("durability") or stated.get("durability") or {})
    return {}


def trials(run: Run) -> Finding:
    """Rule 1: there are enough trials for an interval."""
    tried = set(run.frame("trials").filter(pl.col("status") != "skipped")["cell"])
    every = [one for one in labelled(run) if one.trials]
    fewest = min((one.ok for one in every if one.name in tried), default=0)
    skipped = sum(one.name not in tried for one in every)
    mark: Mark = "not kept" if fewest < 3 else "partly" if fewest < 10 else "kept"
    return _found(mark, "trials-smallest", trials=fewest, skipped=skipped, of=len(every))


def order(run: Run) -> Finding:
    """Rule 2: the run has several blocks in a stored, shuffled order."""
    blocks = run.frame("trials")["block"].n_unique()
    seed = run.info["order_seed"]
    if seed is None or blocks < 2:
        return _found("not kept", "one-block")
    return _found("kept", "shuffled", blocks=blocks, seed=seed)


def intervals(run: Run) -> Finding:
    """Rule 3: comparisons are ratios with intervals."""
    base = comparison.baseline(run)
    found = [
        one
        for pair in comparison.metrics(run)
        for one in (comparison.against(run, *pair, base) if base else [])
    ]
    if not found:
        return _found("not applicable", "nothing-compared")
    without = sum(one.ratio.low is None for one in found)
    return _found("partly" if without else "kept", "intervals", number=len(found) - without, of=len(found))


def noise(run: Run) -> Finding:
    """Rule 4: the noise floor of the machine is known from A/A runs."""
    if run.against_itself:
        return _found("kept", "against-itself")
    known = noise_known(run)
    wanted = set(comparison.metrics(run)) & run.measured.keys()
    if not known:
        return _found("not kept", "no-aa-run")
    missing = len(wanted - known.keys())
    return _found(
        "partly" if missing else "kept", "noise-known", number=len(wanted) - missing, of=len(wanted)
    )


def caches(run: Run) -> Finding:
    """Rule 6: the state of the caches is recorded, and bytes read do not contradict it."""
    unknown = run.ok["cache_state"].null_count()
    states = run.ok["cache_state"].drop_nulls().unique().sort().to_list()
    if not states or unknown:
        return _found("not recorded", "caches-unrecorded", trials=unknown)
    read: Counter[str] = Counter()
    for metric in ("server_read_bytes", "storage_bucket_read_bytes", "device_read_bytes"):
        for phase in run.phases_of(metric):
            if phase not in run.loads:  # caches are dropped after the load
                read.update(run.by_trial(phase, metric))
    cold = run.ok.filter(pl.col("cache_state") == "cold")["trial_id"].to_list()
    if doubtful := sum(one in read and not read[one] for one in cold):
        return _found("not kept", "cold-read-nothing", trials=doubtful)
    verified = bool(cold) and all(one in read for one in cold)
    return _found("partly" if "lukewarm" in states else "kept", "caches", states=states, verified=verified)


def client(run: Run) -> Finding:
    """Rule 8: the client was calibrated against a null server and did not limit the result."""
    calibrated = bool(run.fact_list("calibration"))
    servers = any(not run.embedded(one.system) for one in labelled(run))
    if not servers:
        return _found("not applicable", "no-server")
    if not calibrated:
        return _found("not recorded", "no-calibration")
    if not run.phases_of("client_cpu_fraction"):
        return _found("not recorded", "client-share-unrecorded")
    if (shortest := limits.calibrated_seconds(run)) < limits.BRIEF_SECONDS:
        return _found("partly", "calibration-brief", seconds=shortest)
    if loose := [*limits.busy_client(run), *limits.shared_cores(run)]:
        return Finding("partly", tuple(loose))
    return _found("kept", "client-idle", below=limits.BUSY_CLIENT)


def same_work(run: Run) -> Finding:
    """Rule 9: counts and answers agree, and no operation failed."""
    if faults := work.faults(run):
        return Finding("not kept", tuple(faults))
    failed = run.frame("errors")["operations"].sum() or 0
    passed, wrong = (sum(counts[kind] for counts in run.checks.values()) for kind in (0, 1))
    if failed or wrong:
        return _found("partly", "work-failed", operations=failed, checks=wrong)
    if not passed:
        return _found("not recorded", "nothing-checked")
    lost = int((run.frame("checks")["kind"] == "optional").sum())
    return _found("kept", "checks-passed", checks=passed, optional=lost)


def durability(run: Run) -> Finding:
    """Rule 10: every system declares its durability."""
    silent = [
        run.title(system)
        for system, arm in dict.fromkeys((cell.system, cell.arm) for cell in run.cells)
        if not set(DURABILITY) <= durability_of(run, system, arm).keys()
        and not (run.facts("programs").get(system) or {}).get("url")
    ]
    return _found("partly" if silent else "kept", "durability", undeclared=silent)


def arms(run: Run) -> Finding:
    """Rule 11: each trial has an arm."""
    found = run.frame("trials")["arm"].drop_nulls().unique().sort().to_list()
    return _found("kept" if found else "not recorded", "arms", arms=found)


def settled(run: Run) -> Finding:
    """Rule 12: both acknowledged and settled times are recorded."""
    loads = run.loads
    if not loads:
        return _found("not applicable", "no-load")
    unmeasured = {name for text in run.ok["unmeasured"].drop_nulls().unique() for name in json.loads(text)}
    if any(name.startswith("settled_seconds") for name in unmeasured):
        return _found("not applicable", "loads-timed")
    known = [one.points for phase in loads for one in estimates(run, phase, "settled_seconds")]
    return _found("kept", "settled") if any(known) else _found("not recorded", "settled-unrecorded")


def environment(run: Run) -> Finding:
    """Rule 13: the environment is recorded and controlled."""
    controls = [one for one in run.fact_list("controls") if isinstance(one, dict)]
    if not run.facts("host"):
        return _found("not recorded", "machine-unrecorded")
    loose = [str(one.get("control")) for one in controls if one.get("state") != "controlled"]
    return _found("partly" if loose else "kept", "controls", of=len(controls), loose=loose)


def provenance(run: Run) -> Finding:
    """Rule 14: the run has digests and a revision without uncommitted changes."""
    facts = run.facts("provenance")
    if run.mixed:
        return _found("not kept", "mixed", text=run.mixed)
    stated = of_declarations(facts)
    revision, changed = stated.get("git_revision"), bool(stated.get("git_dirty"))
    if not revision:
        return _found("partly", "revision-unknown")
    return _found("partly" if changed else "kept", "revision", revision=str(revision), changed=changed)


def claims(run: Run) -> Finding:
    """Rule 15: the declaration that the run stored contains the claims."""
    declared = (run.facts("declared").get("experiment") or {}).get("claims") or []
    if not declared:
        return _found("not applicable", "no-claim")
    return _found("kept", "claims-declared", claims=len(declared))


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
        return _found("not applicable", "no-closed-loop")
    against, agreed = sorted(+wrong), checked - wrong.total()
    return _found("partly" if against else "kept", "littles-law", agreed=agreed, of=checked, phases=against)


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
        return _found("not applicable", "no-query")
    missing = [name for name in ("queries_digest", "data_to_memory") if run.ok[name].null_count()]
    return _found("partly" if missing else "kept", "query-facts", missing=missing)


def embedded(run: Run) -> Finding:
    """Rule 19: servers and embedded systems are ranked separately."""
    kinds = {run.embedded(one.system) for one in labelled(run)}
    if len(kinds) < 2:
        return _found("not applicable", "one-kind")
    return _found("kept", "ranked-apart")


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
        return _found("partly", "no-pace") if latencies(run) else _found("not applicable", "no-operations")
    recorded, untagged = run.query(
        "SELECT count(*), count(*) FILTER (r.warmup IS NULL) FROM intervals r JOIN trials t USING (trial_id) "
        "WHERE t.run_id = ?"
    ).row(0)
    if not recorded:
        return _found("not recorded", "progress-unrecorded")
    if untagged:
        return _found("partly", "warmup-unmarked", number=untagged)
    labels = limits.labels(run)
    if missing := run.ok.height * timed - len(labels):
        return _found("partly", "pace-unknown", number=missing)
    loose = Counter(label for label in labels.values() if label != "steady")
    return _found("partly" if loose else "kept", "paces", of=len(labels), loose=dict(sorted(loose.items())))


def latency(run: Run) -> Finding:
    """Rule 7: latencies are whole histograms and count from the intended start in open loops."""
    phases = run.queries or latencies(run)
    if not phases:
        return _found("not applicable", "no-single-operations")
    kinds = _histograms(run)
    without = [phase for phase in phases if (phase, "latency") not in kinds]
    if without:
        return _found("not recorded", "no-histogram", phases=without)
    return _found("kept", "histograms", open_loop=any(kind == "service" for _, kind in kinds))


def sources(run: Run) -> Finding:
    """Rule 16: every published number has a source, and the defects of its method are listed."""
    from benchbook.declare.defects import publications

    declared: list[dict[str, Any]] = (run.facts("declared").get("experiment") or {}).get("claims") or []
    if not declared:
        return _found("not applicable", "no-published-number")
    without = [str(claim.get("id")) for claim in declared if not claim.get("source")]
    if without:
        return _found("not kept", "no-source", claims=without)
    listed = run.info["experiment"] in {one.experiment for one in publications()}
    return _found("kept" if listed else "partly", "sources", claims=len(declared), defects=listed)


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
