"""The limits of a run: what a reader must know before repeating its numbers, each one computed."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable

import polars as pl

from benchbook.analyse import comparison, noise, order, quantity
from benchbook.analyse.cells import labelled
from benchbook.analyse.run import Run
from benchbook.analyse.scaled import scaled_label
from benchbook.declare.metric import describe
from benchbook.measure import steady

# Whether each timed phase of each trial ran at one pace: its label, read from the intervals that were kept.

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


# The label of a run of profile ``published`` on a machine smaller than the publication's: scaled.


# The limits of a run: what a reader must know before repeating its numbers, each one computed.

FEW_TRIALS = 10
"""Trials of a cell below which a note says that they are few."""
BUSY_CLIENT = 0.8
"""Share of its cores from which the client itself may be what was measured."""
LISTENING = "addresses beyond loopback"
"""The check that holds how many there are."""
WAITED_SECONDS = 0.01
"""Time that the workers of a client waited for the file of single operations, in all, that is worth a word."""
BRIEF_SECONDS = 1.0
"""A shorter phase may lie between two pauses of the machine, or be one."""
STOLEN = 0.01
"""Share of time stolen by the hypervisor that is worth a word."""


def limits(run: Run) -> list[str]:
    """Return what a reader must know before using the numbers of a run, one sentence or two each."""
    return [words for part in _PARTS for words in part(run)]


def _mixed(run: Run) -> list[str]:
    return (
        [f"Numbers of different work stand together here, as was asked for: {run.mixed}."]
        if run.mixed
        else []
    )


def _size(run: Run) -> list[str]:
    profile = run.info["profile"]
    if profile == "smoke":
        return ["Profile smoke is for tests: its trials last seconds or less, and its numbers say little."]
    if words := scaled_label(run):
        return [f"Profile {profile}, {words}; the published numbers were not measured at this size."]
    return [f"Profile {profile}: other sizes of data and other queries may order the systems differently."]


def _trials(run: Run) -> list[str]:
    # A cell without any has its place among the gaps.
    counts = [cell.ok for cell in labelled(run) if cell.ok]
    words = []
    if counts and min(counts) < 3:
        words.append(
            "A cell with fewer than 3 trials that count has no interval, and nothing is concluded of it."
        )
    if counts and min(counts) < FEW_TRIALS:
        words.append(
            f"The smallest cell has {min(counts)} trials: at least {FEW_TRIALS} make an interval dependable."
        )
    about = run.facts("precision")
    if about.get("pilot"):
        words.append(
            f"{about.get('trials')} trials a cell were fixed before the run by the pilot {about['pilot']}, for "
            f"intervals within {quantity.percent(float(about['asked']))}."
        )
    beside = sum(1 for held in run.ok["load_before"].drop_nulls() if json.loads(held).get("other_runs"))
    if beside:
        words.append(f"{beside} trials were measured while another run was going on on the same machine.")
    if run.info["finished_at"] is None:
        words.append("The run has not come to its end.")
    return words


def _brief(run: Run) -> list[str]:
    """Name the phases that most trials did in less than a second."""
    timed = run.frame("phases").filter(pl.col("timed") & pl.col("workload").is_not_null())
    seconds = (
        timed.join(run.ok.select("trial_id"), on="trial_id")
        .group_by("phase", maintain_order=True)
        .agg(pl.col("duration_seconds").median())
        .filter(pl.col("duration_seconds") < BRIEF_SECONDS)
    )
    named = [f"{phase} {quantity.text(held, 's')}" for phase, held in seconds.iter_rows()]
    if not named:
        return []
    words = (
        f"Half of the trials did these phases in less than the time given: {', '.join(named)}. A pause of "
        "milliseconds counts much in so short a time, and few operations make a 99th percentile one of the slowest."
    )
    return [words]


def _pace(run: Run) -> list[str]:
    """Say which phases never came to one pace; nothing of them is left out."""
    words = []
    for phase, found in counted(run).items():
        for label, what in (("drifting", "was still changing"), ("warming", "began at another")):
            if found[label]:
                words.append(
                    f"The pace of phase {phase} {what} in {found[label]} of {found.total()} trials that count; "
                    "they stand in every number."
                )
    return words


def _embedded(run: Run) -> list[str]:
    names = list(dict.fromkeys(cell.system for cell in labelled(run)))
    inside = [run.title(name) for name in names if run.embedded(name)]
    if not inside:
        return []
    verb = "run" if len(inside) > 1 else "runs"
    shared = (
        f"{' and '.join(inside)} {verb} inside the client's process: processor time and memory of client and "
        "system cannot be told apart, and no transport is part of the numbers."
    )
    words = [shared]
    if len(inside) < len(names):
        words.append(
            "Servers are not ranked against embedded systems: their numbers hold the transport as well."
        )
    return words


def busy_client(run: Run) -> list[str]:
    """Say in which phases the client used so much of its cores that it may be what was measured."""
    rows = run.ok.join(
        run.frame("measurements").filter(
            (pl.col("metric") == "client_cpu_fraction") & (pl.col("value") > BUSY_CLIENT)
        ),
        on="trial_id",
        how="inner",
        maintain_order="left",
    )
    found: dict[tuple[str, str], float] = {}
    for system, phase, value in rows.select("system", "phase", "value").iter_rows():
        if not run.embedded(system):
            found[system, phase] = max(found.get((system, phase), 0.0), value)
    return [
        f"The client used up to {quantity.percent(value)} of its cores in phase {phase} against "
        f"{run.title(system)}: it may be what was measured."
        for (system, phase), value in found.items()
    ]


def shared_cores(run: Run) -> list[str]:
    """Say where a server and its client had no cores of their own, and why."""
    found: dict[str, int] = {}
    for system, held in run.ok.select("system", "confinement").iter_rows():
        told = json.loads(held) if held and not run.embedded(system) else {}
        words = str(told.get("pinning") or "")
        if words and told.get("client_cores") is None:
            why = words.partition(": ")[2] or words
            found[why] = found.get(why, 0) + 1
    return [f"No cores of their own in {count} trials of servers: {why}." for why, count in found.items()]


def _waited(run: Run) -> list[str]:
    """Say in which phases workers waited for the file of single operations instead of asking."""
    waits = run.frame("measurements").filter(
        (pl.col("metric") == "record_stall_seconds") & (pl.col("value") > WAITED_SECONDS)
    )
    return [
        f"Workers waited up to {quantity.number(value, 2)} s for the file of single operations in phase {phase}: "
        "without --record-operations they would have asked more."
        for phase, value in waits.group_by("phase", maintain_order=True)
        .agg(pl.col("value").max())
        .iter_rows()
    ]


def _machine(run: Run) -> list[str]:
    words = []
    steal = run.frame("measurements").filter(pl.col("metric") == "machine_steal_fraction")["value"].max()
    if isinstance(steal, float) and steal > STOLEN:
        words.append(
            f"The hypervisor stole up to {quantity.percent(steal)} of the machine's time during a phase."
        )
    controls = [one for one in run.fact_list("controls") if isinstance(one, dict)]
    loose = [str(one.get("control")) for one in controls if one.get("state") != "controlled"]
    if loose:
        words.append(f"Not controlled, or not known to be: {', '.join(loose)}.")
    cold = run.ok["cache_state"].drop_nulls().unique().sort().to_list()
    if cold:
        words.append(f"Caches were {' or '.join(cold)} when the timed phases began.")
    ratio = run.ok["data_to_memory"].max()
    if isinstance(ratio, float) and ratio < 1:
        words.append(
            f"The data is {quantity.number(ratio, 2)} times the machine's memory, so it fits into caches."
        )
    return words


def _listening(run: Run) -> list[str]:
    """Say which systems could be reached from other machines while they were measured."""
    checks = run.frame("checks").filter((pl.col("name") == LISTENING) & (pl.col("found") != "0"))
    rows = run.ok.join(checks, on="trial_id", how="inner", maintain_order="left")
    declared = run.systems
    return [
        f"{run.title(name)} listened on addresses that other machines reach: "
        f"{declared.get(name, {}).get('listens_beyond') or 'no reason is declared'}."
        for name in dict.fromkeys(rows["system"].to_list())
    ]


def _elsewhere(run: Run) -> list[str]:
    """Say what was not measured, and how far the clocks of several machines were apart."""
    reasons: dict[str, set[str]] = {}
    apart = 0.0
    for unmeasured, placement in run.ok.select("unmeasured", "placement").iter_rows():
        for metric, reason in (json.loads(unmeasured) if unmeasured else {}).items():
            reasons.setdefault(reason, set()).add(metric)
        for client in json.loads(placement)["clients"] if placement else ():
            apart = max(apart, abs(client["clock_offset_seconds"]) + client["clock_error_seconds"])
    words = [f"Not measured, because {why}: {', '.join(sorted(names))}." for why, names in reasons.items()]
    if apart:
        words.append(f"Clients ran on other machines, with clocks at most {1000 * apart:.3g} ms apart.")
    return words


def _order(run: Run) -> list[str]:
    found = order.of_run(run)
    if found is None or not found.present or found.factor is None:
        return []
    return [
        (
            f"A trial's place in its block moved the throughput by {100 * (found.factor - 1):+.1f} % a place "
            f"(95 % interval {100 * ((found.low or 0) - 1):+.1f} to {100 * ((found.high or 0) - 1):+.1f} %)."
        )
    ]


def _noise(run: Run) -> list[str]:
    if comparison.baseline(run) is None:
        return []
    known = noise.known(run)
    compared = {pair: known[pair] for pair in comparison.metrics(run) if pair in known}
    if not compared:
        return ["The noise floor of this machine is unknown (./bench aa): small differences may be noise."]
    most = max(compared, key=lambda pair: compared[pair].variance)
    runs = sorted({name for one in compared.values() for name in one.runs})
    words = f"{quantity.percent(compared[most].factor - 1)} ({describe(most[1]).title}, {most[0]})"
    return [
        (
            f"Equal setups on this machine differ by up to {words} beyond the noise of their trials, "
            f"measured in {' and '.join(runs)}; every interval includes it."
        )
    ]


_PARTS: tuple[Callable[[Run], list[str]], ...] = (
    _mixed, _size, _trials, _brief, _pace, _embedded, busy_client, _waited, shared_cores, _machine, _listening,
    _elsewhere, _order, _noise,
)  # fmt: skip
