"""Words for the reasons why a run kept a rule of measurement or not; part of ``report.reasons``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchbook.analyse import quantity

Facts = Mapping[str, Any]

PACE = {
    "short": "are too short for a label",
    "drifting": "did not reach a steady rate",
    "warming": "started at a different rate than they reached later",
}
"""Label of ``measure.steady`` → text; phases that are steady need none."""


def _smallest(facts: Facts) -> str:
    skipped = f"; {facts['skipped']} of {facts['of']} setups were skipped" if facts["skipped"] else ""
    return f"{quantity.counted(facts['trials'], 'trial')} in the smallest setup{skipped}"


def _noise_known(facts: Facts) -> str:
    if facts["number"] == facts["of"]:
        return "the verdicts use the floor of this processor's A/A runs"
    return f"known for {facts['number']} of {facts['of']} compared numbers"


def _caches(facts: Facts) -> str:
    states = ", ".join(facts["states"])
    if "lukewarm" in facts["states"]:
        return f"{states}: caches could not be dropped, or kept some of the data"
    return f"{states}, verified by bytes read from the storage" if facts["verified"] else states


def _generator_bound(facts: Facts) -> str:
    return (
        f"Benchload limited the result of {facts['system']} in phase {facts['phase']} because its workers waited for "
        f"generated rows for more than half of the time in {facts['trials']} "
        f"{'trial' if facts['trials'] == 1 else 'trials'}"
    )


def _failed(facts: Facts) -> str:
    parts = [f"{facts[name]:,} {name}" for name in ("operations", "checks") if facts[name]]
    return f"{' and '.join(parts)} failed"


def _passed(facts: Facts) -> str:
    lost = f"; {facts['optional']} others count rows that the system may lose" if facts["optional"] else ""
    return f"{facts['checks']} checks passed{lost}"


def _controls(facts: Facts) -> str:
    loose = facts["loose"]
    named = f"; not controlled: {', '.join(loose)}" if loose else ""
    return f"{facts['of'] - len(loose)} of {facts['of']} conditions controlled{named}"


def _revision(facts: Facts) -> str:
    changed = " with uncommitted changes" if facts["changed"] else ""
    return f"revision {facts['revision'][:12]}{changed}"


def _law(facts: Facts) -> str:
    against = f"; disagreement in {', '.join(facts['phases'])}" if facts["phases"] else ""
    return f"{facts['agreed']} of {facts['of']} phases of trials agree{against}"


def _paces(facts: Facts) -> str:
    if not facts["loose"]:
        return "no trial was dropped, warm-up is marked, and every phase was steady"
    counts = ", ".join(f"{count} {PACE[label]}" for label, count in facts["loose"].items())
    return f"no trial was dropped; of {facts['of']} phases of trials, {counts}"


def _sources(facts: Facts) -> str:
    if facts["defects"]:
        return f"{quantity.counted(facts['claims'], 'claim')} with sources; the defects of their method are listed"
    return "every number has a source; no defects of the published method are listed"


WORDS: dict[str, str | Callable[[Facts], str]] = {
    "client-busy": lambda facts: (
        f"The client used up to {quantity.percent(facts['share'])} of its cores in phase {facts['phase']} against "
        f"{facts['system']}: it may have limited the result"
    ),
    "generator-bound": _generator_bound,
    "shared-cores": lambda facts: (
        f"In {quantity.counted(facts['trials'], 'trial')}, the server and the client ran on the same cores: "
        f"{facts['why']}"
    ),
    "trials-smallest": _smallest,
    "one-block": "with one block, order and drift cannot be distinguished",
    "shuffled": lambda facts: f"{quantity.counted(facts['blocks'], 'block')}, order seed {facts['seed']}",
    "nothing-compared": (
        "no two setups have a number that this rule compares (the compared metrics of the workloads, and size)"
    ),
    "intervals": "{number} of {of} ratios have an interval",
    "against-itself": "this run is the A/A run that measures the floor",
    "no-aa-run": "there is no A/A run of this experiment on this processor",
    "noise-known": _noise_known,
    "caches-unrecorded": lambda facts: f"not recorded in {quantity.counted(facts['trials'], 'trial')}",
    "cold-read-nothing": "{trials} trials are recorded as cold but read nothing from the storage",
    "caches": _caches,
    "no-server": "embedded systems share the client's process",
    "no-calibration": "no calibration was recorded",
    "client-share-unrecorded": "the share of its cores that the client used was not recorded",
    "calibration-brief": "the calibration lasted {seconds:.2g} s, too short to show the client's ceiling",
    "client-idle": lambda facts: (
        f"calibrated; the client used less than {100 * facts['below']:g} % of its cores"
    ),
    "work-failed": _failed,
    "nothing-checked": "nothing was checked",
    "checks-passed": _passed,
    "durability": lambda facts: (
        f"not declared: {', '.join(facts['undeclared'])}" if facts["undeclared"] else "declared"
    ),
    "arms": lambda facts: ", ".join(facts["arms"]) or "no arm was recorded",
    "no-load": "no phase has the workload load",
    "loads-timed": "loads ended after a time; sizes and counts are of settled data",
    "settled": "both times are recorded",
    "settled-unrecorded": "no settled time was recorded",
    "machine-unrecorded": "the machine was not recorded",
    "controls": _controls,
    "mixed": "{text}",
    "revision-unknown": "the revision is unknown",
    "revision": _revision,
    "no-claim": "the run checks no published statement",
    "claims-declared": lambda facts: f"{quantity.counted(facts['claims'], 'claim')}, declared before the run",
    "no-closed-loop": "no phase with a closed loop has a rate and a latency",
    "littles-law": _law,
    "no-query": "no phase has the workload query",
    "query-facts": lambda facts: (
        f"missing: {', '.join(facts['missing'])}" if facts["missing"] else "both recorded"
    ),
    "one-kind": "all systems of this run are of one kind",
    "ranked-apart": "ranked separately",
    "no-pace": "no trial was dropped; phases of this workload have no label of their pace",
    "no-operations": "no phase records operations",
    "progress-unrecorded": "no intervals were recorded, so warm-up and drift are unknown",
    "warmup-unmarked": "{number} intervals are not marked as warm-up or measured",
    "pace-unknown": "{number} phases of trials have no label of their pace",
    "paces": _paces,
    "no-single-operations": "the run records no single operations",
    "no-histogram": lambda facts: f"no histogram of {', '.join(facts['phases'])}",
    "histograms": lambda facts: (
        "open loop: latency counts from the intended start; service time is separate"
        if facts["open_loop"]
        else "percentiles come from whole histograms; the loops are closed, so there is no intended start"
    ),
    "no-published-number": "the run repeats no published number",
    "no-source": lambda facts: f"no source: {', '.join(facts['claims'])}",
    "sources": _sources,
}
"""Code → its wording, as in ``report.reasons``."""
