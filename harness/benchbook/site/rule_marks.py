"""Marks of the rules that are judged from operations, latencies and sources; see ``rule_checks``."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal, NamedTuple

import polars as pl

from benchbook.report import pace
from benchbook.report.results import Run

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
    labels = pace.labels(run)
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
    from benchbook.site.defects import publications

    declared: list[dict[str, Any]] = (run.facts("declared").get("experiment") or {}).get("claims") or []
    if not declared:
        return Finding("no matter here", "no published number is repeated")
    without = [str(claim.get("id")) for claim in declared if not claim.get("source")]
    if without:
        return Finding("not kept", f"no source: {', '.join(without)}")
    if run.info["experiment"] not in {one.experiment for one in publications()}:
        return Finding("partly", "every number has its source; no defects of the published method are listed")
    return Finding("kept", f"{len(declared)} claims with their sources, the defects of their method listed")
