"""Whether each timed phase of each trial ran at one pace: its label, read from the intervals that were kept."""

from __future__ import annotations

import functools
from collections import Counter

import polars as pl

from benchbook.analyse import steady
from benchbook.report.results import Run

WHOLE = 0.9
"""Share of the usual length of an interval below which it is the rest of a phase, no whole interval."""
LABELLED = ("load", "query")
"""Workloads whose operations have intervals."""

Labels = dict[tuple[str, str], steady.Label]
"""(trial, phase) → label."""


@functools.cache
def labels(run: Run) -> Labels:
    """Return the label of every load and query phase of the trials that count; warm-up is not looked at.

    A load is judged by its rows a second, queries by how many ended in a second.
    """
    named = [phase for workload in LABELLED for phase in run.phases(workload)]
    kept = run.frame("intervals").filter(
        pl.col("phase").is_in(named)
        & (pl.col("duration_seconds") > 0)
        & ~pl.col("warmup").fill_null(value=False)
    )
    kept = kept.join(run.ok.select("trial_id"), on="trial_id", how="inner", maintain_order="left")
    # All phases of all trials at once: a frame for each of them takes seconds of 10,000 trials.
    alike = ("trial_id", "phase")
    whole = kept.filter(pl.col("duration_seconds") >= WHOLE * pl.col("duration_seconds").median().over(alike))
    counted = pl.when(pl.col("rows").sum().over(alike) > 0).then("rows").otherwise("operations")
    series = (
        whole.select(*alike, rate=counted / pl.col("duration_seconds"))
        .group_by(alike, maintain_order=True)
        .agg("rate")
    )
    return {(trial_id, phase): steady.label(rates) for trial_id, phase, rates in series.iter_rows()}


@functools.cache
def _by_trial(run: Run) -> dict[str, dict[str, steady.Label]]:
    found: dict[str, dict[str, steady.Label]] = {}
    for (trial_id, phase), label in labels(run).items():
        found.setdefault(trial_id, {})[phase] = label
    return found


def of_trial(run: Run, trial_id: str) -> str:
    """Return the labels of one trial's phases in words: ``load drifting, groupby steady``."""
    of = _by_trial(run).get(trial_id, {})
    kinds = set(of.values())
    if len(kinds) == 1:
        return kinds.pop()
    return ", ".join(f"{phase} {label}" for phase, label in of.items())


def counted(run: Run) -> dict[str, Counter[str]]:
    """Return how often each phase has each label."""
    found: dict[str, Counter[str]] = {}
    for (_, phase), label in labels(run).items():
        found.setdefault(phase, Counter())[label] += 1
    return found
