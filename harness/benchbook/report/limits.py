"""The limits of a run in sentences: what readers must know before they use its numbers."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from benchbook.analyse import beside, changed, comparison, looked, noise, order, quantity, scaled
from benchbook.analyse.cells import labelled
from benchbook.analyse.limits import brief, busy_client, label_counts, one_device, shared_cores
from benchbook.analyse.model import FEW, Noise
from benchbook.analyse.run import Run
from benchbook.analyse.wording import listing
from benchbook.declare.metric import describe
from benchbook.declare.program_origin import lacks_origin
from benchbook.record.runs import chosen as chosen_levels
from benchbook.report import typed
from benchbook.report.reasons import text

WAITED_SECONDS = 0.01
"""Total time that a client's workers wait for the file of single operations before a limit reports it."""
STOLEN = 0.01
"""Share of time stolen by the hypervisor above which a limit reports it."""


NAMED_TRIALS = 5
"""Trials that a sentence names; it counts more."""
NAMED_RUNS = 3
"""Runs that a sentence names; it counts more."""
MOST_STRETCHES = 4
"""Stretches of trials that a sentence names; it counts more."""
SETTINGS = {
    "machine.boot": "boot of the machine",
    "kernel.release": "kernel",
    "cpu.usable_cores": "number of usable cores",
    "cpu.governor": "frequency governor",
    "cpu.turbo": "turbo",
    "cpu.smt": "SMT",
    "memory.transparent_huge_pages": "transparent huge pages",
    "swap.total_bytes": "swap in bytes",
    "cgroup.cpu_limit_cores": "CPU quota in cores",
    "cgroup.cpuset_cores": "number of cores of the control group",
    "cgroup.memory_limit_bytes": "memory limit in bytes",
}
"""Setting that a trial records → its name in a sentence."""


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
        return [f"Profile {profile}, {text(short)}. Published numbers were measured at full size."]
    return [f"Profile {profile}: systems may rank differently with other data sizes and queries."]


def _trials(run: Run) -> list[str]:
    # The report lists cells without valid trials elsewhere, among the gaps.
    counts = [cell.ok for cell in labelled(run) if cell.ok]
    found = []
    if counts and min(counts) < 3:
        found.append("Setups with fewer than 3 valid trials have no interval and no verdict.")
    if counts and min(counts) < FEW:
        found.append(
            f"At least one setup has only {quantity.counted(min(counts), 'valid trial')}; intervals are dependable from"
            f" {FEW} trials on."
        )
    if judged := looks(run):
        found.append(
            f"{judged} The intervals of claims are widened for the repeated looks; other intervals on this page are "
            "not."
        )
    beside = sum(1 for held in run.ok["load_before"].drop_nulls() if json.loads(held).get("other_runs"))
    if beside:
        found.append(
            f"{quantity.counted(beside, 'trial')} ran while another run was in progress on the same machine."
        )
    if run.info["finished_at"] is None:
        found.append("The run is not finished.")
    return found


def looks(run: Run) -> str:
    """Return how often the claims of a run were judged and why it ended; empty for a run without looks."""
    made, taken = looked.design(run), looked.taken(run)
    if made is None:
        return ""
    if not taken:
        return f"The claims are not judged yet: that happens first after {made.first} blocks."
    last = taken[-1]
    number = sum(look["block"] >= made.first for look in taken)
    times = _times(number)
    blocks = quantity.counted(last["block"], "block")
    after = f"after {blocks} (at most {made.maximum}), and its claims were judged {times}"
    if last["stopped"] is None:
        return f"The run continues {after}."
    return f"The run ended {after}. Why it ended: {last['stopped']}."


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


def _busy(run: Run) -> list[str]:
    return [f"{text(one)}." for one in busy_client(run)]


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


def _shared(run: Run) -> list[str]:
    return [f"{text(one)}." for one in shared_cores(run)]


def _disks(run: Run) -> list[str]:
    return [f"{text(one)}." for one in one_device(run)]


def _listening(run: Run) -> list[str]:
    """Return the systems that other machines could reach during the measurement."""
    held = (
        "SELECT t.system FROM checks c JOIN trials t USING (trial_id) WHERE t.run_id = ? AND t.status = 'ok' "
        "AND c.kind = 'listening' AND c.found <> '0' GROUP BY t.system ORDER BY min(t.\"index\")"
    )
    declared = run.systems
    return [
        f"{run.title(name)} listened on addresses that other machines can reach: "
        f"{declared.get(name, {}).get('listens_beyond') or 'its declaration gives no reason'}."
        for name in run.query(held)["system"]
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
        measures = typed.command(run, "aa")
        return [
            f"The noise between equal setups is unknown ({measures} measures it), so small differences may be noise."
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
    who = f"{listing(systems)} {'was' if len(systems) == 1 else 'were'} compared with "
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


def chosen(run: Run) -> list[str]:
    """Return the levels, runs and trials that are chosen or left out: whoever did that may have chosen a verdict."""
    return [*_levels(run), *absent(run), *altered(run), *stopped(run), *changed_since(run)]


def _levels(run: Run) -> list[str]:
    """Return what was given with ``--set``: a claim on all levels of a factor is judged at those that the run has."""
    held = "" if run.against_itself else chosen_levels(json.loads(run.info["argv"] or "[]"))
    return [f"Levels chosen with --set: {held}. Claims are judged at these alone."] if held else []


def _first(names: Sequence[str], most: int) -> str:
    """Return the first names of a list, with a sign if there are more."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def altered(run: Run) -> list[str]:
    """Return which finished trials were removed or changed and ran again: somebody may have chosen among values."""
    held = run.fact_list("altered")
    trials = [one for one in held if one["trial_id"]]
    found = []
    if trials:
        named = _first([str(one["trial_id"]) for one in trials], NAMED_TRIALS)
        what = "1 finished trial was" if len(trials) == 1 else f"{len(trials)} finished trials were"
        found.append(
            f"{what} removed or changed before the run was continued, and ran again: {named}. The values that"
            " count here may have been chosen."
        )
    if len(trials) < len(held):
        found.append(
            "The journal of finished trials was removed or changed before the run was continued, so trials may have"
            " been chosen."
        )
    return found


def stopped(run: Run) -> list[str]:
    """Return which trials began, were stopped and ran again: somebody may have stopped them for their values."""
    held = run.fact_list("stopped")
    if not held:
        return []
    named = _first([f"{one['trial_id']} ({_times(one['times'])})" for one in held], NAMED_TRIALS)
    what = "1 trial was" if len(held) == 1 else f"{len(held)} trials were"
    return [
        f"{what} stopped before the end, and ran again: {named}. The values that count here may have been chosen."
    ]


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def changed_since(run: Run) -> list[str]:
    """Return which trials were removed or changed after they ended, of this run and of those that count beside it."""
    found = []
    for name, held in beside.altered(run).items():
        trials = [one["trial_id"] for one in held if one["trial_id"]]
        named = _first(trials, NAMED_TRIALS)
        what = f"Trials of {name} were" if trials else f"The journal of {name} was"
        found.append(
            f"{what} removed or changed since{f' they ended: {named}' if trials else ' its trials ended'}. The numbers"
            " that count here may have been chosen."
        )
    return found


_ABSENT: Mapping[beside.Absence, str] = {
    "withdrawn": "withdrawn",
    "not learned": "published, but reports/priors.json does not name it: ./bench replicate --record",
    "removed": "published before, as reports/priors.json or the history of git says, but missing from reports/data",
    "elsewhere": "published beside this one by Benchbook, but not in this project",
    "earlier": "named by this run as complete and earlier, but neither published as one of the project nor a complete"
    " run of the same user in its results folder",
    "stopped": "named by this run as earlier, and not complete: it was stopped or failed to end",
}


def absent(run: Run) -> list[str]:
    """Return the runs of the experiment that should count and do not: leaving them out may have changed a verdict."""
    found = []
    for why, ids in beside.absent(run).items():
        named = _first(ids, NAMED_RUNS)
        number = "1 other run counts" if len(ids) == 1 else f"{len(ids)} other runs count"
        found.append(f"{number} for no verdict here ({_ABSENT[why]}): {named}.")
    return found


def _changed(run: Run) -> list[str]:
    """Return the settings of the machine that changed during the run, and in which trials."""
    found = []
    for name, stretches in changed.settings(run).items():
        title = SETTINGS.get(name, name)
        if len(stretches) > MOST_STRETCHES:
            values = ", ".join(dict.fromkeys(_setting(one.value) for one in stretches))
            found.append(f"The {title} changed {len(stretches) - 1} times during the run, among: {values}.")
        else:
            said = [f"{_setting(one.value)} in {_numbers(one)}" for one in stretches]
            found.append(f"The {title} changed during the run: {', '.join(said)}.")
    return found


def _origins(run: Run) -> list[str]:
    """Return the systems whose program was given by its path, without its origin."""
    lacking = [
        run.title(name)
        for name, program in run.facts("programs").items()
        if isinstance(program, dict) and lacks_origin(program)
    ]
    return [
        f"The run does not state where the program of {name} comes from: it was given by its path."
        for name in lacking
    ]


def _others(run: Run) -> list[str]:
    """Return how much of the processor time other programs used, if that was much, and in which trials."""
    shares = changed.others(run)
    busy = [share for _, share in shares if share > changed.DISTURBED]
    if not busy:
        return []
    calm = [share for _, share in shares if share <= changed.DISTURBED]
    stretches = changed.stretches((number, share > changed.DISTURBED) for number, share in shares)
    named = [_numbers(one) for one in stretches if one.value]
    where = f" ({', '.join(named)})" if len(named) <= MOST_STRETCHES else ""
    rest = f"; in the others at most {quantity.percent(max(calm))}" if calm else ""
    used = dict.fromkeys(quantity.percent(one) for one in (min(busy), max(busy)))
    trials = f"{len(busy)} of {len(shares)} valid trials"
    return [f"Other programs used {' to '.join(used)} of the processor time in {trials}{where}{rest}."]


def _setting(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _numbers(one: changed.Stretch) -> str:
    """Return the numbers of trials as ``show RUN/0006`` takes them."""
    return f"trial {one.first:04}" if one.first == one.last else f"trials {one.first:04} to {one.last:04}"


_PARTS: tuple[Callable[[Run], list[str]], ...] = (
    _mixed, _size, _trials, _brief, _pace, _embedded, _busy, _waited, _shared, _machine, _changed, _others,
    _disks, _listening, _origins, _elsewhere, _order, _noise, _earlier, chosen,
)  # fmt: skip
