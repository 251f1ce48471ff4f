"""Reasons as codes and facts: why a verdict or a mark is what it is. ``report.reasons`` words them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CODES = {
    # The interval of a ratio and the expected ratio. All have `low`, `high`, `confidence` and `expected`.
    "within": "The interval lies within the expected band; `narrow`: only the interval of two one-sided tests does.",
    "direction": "The interval lies on the claimed side of 1, and partly within the band.",
    "other-side": "The interval lies on the other side of 1.",
    "step-reversed": "One step of a trend goes the other way.",
    "no-difference": "A difference was published, and the interval of two one-sided tests (`narrow`) ends close to 1.",
    "outside": "The interval lies outside the band; `includes_1`: a direction is claimed, and the interval includes 1.",
    "includes-1": "A direction is claimed, and the interval includes 1.",
    "too-wide": "The interval lies only partly within the band.",
    "no-interval": "There is no interval, `because` of one of the next seven, or of nothing known.",
    "no-pairs": "No block has a value of both.",
    "few-pairs": "There are `pairs`, and an interval needs at least `least`.",
    "few-values": "There are `trials` of one side, and an interval needs at least `least`.",
    "no-values": "One side has no trials.",
    "negative-value": "A value is negative, or not a number.",
    "zero-value": "A value is not above zero.",
    "all-zero": "All values of one side are zero, so there is no ratio.",
    # All cases of a claim.
    "cases": "The claim must hold in `needed` (all, most, any) of `cases` cases; `answers`: in which cases which one.",
    "alone": "On their own, enough cases hold, or (`holds` is false) speak against it; tested together, they do not.",
    "depends": "The levels of an open `factor` have opposite `answers`.",
    "levels-disagree": "The `answers` at levels of an open `factor` disagree; the publication states no level.",
    "smaller-load": "A smaller load than the published one does not show what fails there.",
    # Answers.
    "answers-agree": "`agreed` of `compared` answers agree.",
    "first-differing": "The first query whose answers differ.",
    "few-answers": "All `compared` answers agree, and fewer than `least` show little.",
    "answers-unrecorded": "No answers to `phase` were recorded.",
    # Two setups compared without a claim: `a` and `b`, or the `winner` and the `other`.
    "compared-better": "One is better: the ratio `value` with its interval, of `trials`, and what it is better in.",
    "compared-equal": "The interval of two one-sided tests lies so close to 1 (`within`) that they are equal.",
    "compared-includes-1": "The interval of their ratio includes 1.",
    "compared-family": "The interval excludes 1 alone, but not `among` so many comparisons.",
    "compared-no-interval": "Their ratio has no interval, `because` of another reason.",
    "compared-unfit": "Neither is judged, `because` of another reason.",
    "not-ranked": "Embedded systems and servers are not ranked together.",
    # Two runs compared.
    "ci-excludes-1": "The 95 % CI of the ratio excludes 1.",
    "ci-includes-1": "The 95 % CI of the ratio includes 1.",
    "ci-excludes-1-alone": "The 95 % CI excludes 1 alone, but not `among` so many comparisons.",
    "runs-answer-differently": "The two runs answered `number` values differently.",
    # What was not measured, or not in every trial.
    "not-in-run": "No setup of the run has these `levels`.",
    "no-valid-trial": "Every trial of the setup with these `levels` has one of `statuses`; `why`.",
    "other-version": "The `system` stated another version than the claim `asked` for.",
    "underspecified": "The publication says too little; `text` is of the declaration.",
    "no-case": "No case of the run has both sides.",
    "case-lost": "A `case` has no result, `because` of another reason.",
    "trials-lost": "`trials` of `of` trials of a `setup` do not count, `because` of another reason.",
    "trials-skipped": "Every trial of a `setup` is skipped; `why`.",
    "no-common-block": "No block has a value of both sides: of `metric`, or of `metric` and `over_metric`.",
    "recorded": "The reason that a trial recorded, as `text`.",
    "saturated": "The offered rate was not reached, so latencies only show how long the phase was.",
    "unmeasured": "The trial has no `metric`.",
    "not-published": "The publication has no number for a `case`.",
    "no-published-ratio": "The publication has no ratio for a `case`; `note`.",
    "not-measured": "The publication has more `cases`, which the run did not measure.",
    "not-measured-here": "The machine did not measure it.",
    "other-work": "The run of the machine did other work for this claim: other options, data or versions.",
    "declared-otherwise": "The run of the machine declared this claim differently, or not at all.",
    "substitute": "A `system` was measured in place of the one that the claim `named`.",
    "substitute-verdict": "The answers for the substitute alone: `holds` and `size`.",
    # Why a case, or a claim, is not judged.
    "out-of-reach": "It requires `at_least` or `at_most` of `what`, and a `setup` has `measured` (`unit`); `why`.",
    "other-errors": "It requires `error` as the only one, and `operations` of a `setup` failed with `messages`; `why`.",
    "virtual-machine": "It requires a physical machine, and this one is virtual, or is not `known` to be none; `why`.",
    "cases-unmet": "`cases` of `of` cases miss one requirement of the claim; the first, `because` of another reason.",
    "refused": "The claim is not judged, `because` of other reasons.",
    "idle": "`idle` of `of` trials of a `setup` measured a rate of 0.",
    "operations-failed": "`number` operations failed.",
    "not-cold": "A `phase` asked for cold caches, and in `number` of `of` trials of a `setup` they were not.",
    "short-phase": "The `phase` lasted `seconds`, and one under `least` is not judged.",
    "answers-missing-all": "No answers were recorded, so it is unknown whether the systems did the same work.",
    "answers-missing-of": "`number` of `of` trials of a `system` in an `arm` have no recorded answers.",
    "answers-differ": "The answers to `query_types` differ in `number` values or rows.",
    "answers-empty": "Every system answered these `queries` with no rows.",
    "answers-missing": "There is no answer to these `queries`.",
    "versions-differ": "The sides used `number` different versions of one dataset or query set (`what`).",
    "configurations-differ": "The trials of a `cell` had `number` different configurations.",
    # Differences from the publication.
    "measured-with": "The `conditions` that differ from the publication's, each a reason of the next five.",
    "system-in-place": "Another `system` (its `title`) in place of the one that was `published`.",
    "levels-in-place": "The levels `here` of a `factor` in place of those `published`, as the profile declares.",
    "levels-instead": "The levels `here` of a `factor`, which the publication did not have (`published`).",
    "settings-instead": "The value `here` of an option or a parameter (`name`), and the `published` one.",
    "scaled": "The machine is smaller than the publication's: cores or memory (`here`, `published`).",
    "levels-unstated": "The publication does not state these `factors`; the `levels` that were judged.",
    # What a reader must know beside the verdict.
    "corrected": "The claim was corrected on a `date` after the run; `reason`.",
    "declared-later": "`runs` of the `of` runs that the answer rests on did not declare the claim as it is.",
    "smoke": "Profile smoke is for tests.",
    "unfinished": "The run is unfinished.",
    "noise-unknown": "The noise between equal setups is unknown.",
    "noise": "The noise between equal setups as a `factor`, which the interval includes.",
    "look": "The claim was judged after `blocks` of at most `maximum` blocks, at a significance `level`.",
    "few-trials": "`trials` of each side; `smallest`: in the smallest case; `of_run`: in this one of several runs.",
    "outliers": "`number` outliers, which are kept.",
    "defects": "`trials` of `of` trials of a `setup` have a defect outside the phase; `why`.",
    "failures": "The operations that failed, by setup and message.",
    "published-spread": "`consistent` of `cases` published numbers fit the rerun, if they vary by `spread`.",
    "unsteady": "In `trials` of `of` trials no part of the load was steady, so its second half counts.",
    "transport": "The `systems` share the client's process, so their numbers include no transport.",
    "one-device": "The disks of a `storage` are files on one device.",
    "in-flight": "The sides are compared at different numbers of operations in flight.",
    "span": "The levels of a `factor` from `first` to `last` that a trend was followed over.",
    "no-number-for-span": "The publication has no number for this whole range.",
    "against-trend": "The `steps` that go against a trend.",
    "step": "A trend `moved` from the level `first` to `last` of a `factor`.",
    # The client, and the machine.
    "client-busy": "In a `phase`, the client used a `share` of its cores against a `system`, so it may be the limit.",
    "generator-bound": "In `trials`, workers waited for generated rows for more than half of a `phase` of a `system`.",
    "shared-cores": "In `trials`, the server and the client ran on the same cores; `why`.",
    # Whether a run kept the rules of measurement.
    "trials-smallest": "The smallest setup has `trials`; `skipped` of `of` setups were skipped.",
    "one-block": "With one block, order and drift cannot be distinguished.",
    "shuffled": "The run has `blocks` in the order of a `seed`.",
    "nothing-compared": "No two setups have a number that is compared.",
    "intervals": "`number` of `of` ratios have an interval.",
    "against-itself": "This run is an A/A run.",
    "no-aa-run": "The experiment has no A/A run on this processor.",
    "noise-known": "The noise is known for `number` of `of` compared numbers.",
    "caches-unrecorded": "`trials` have no state of the caches.",
    "cold-read-nothing": "`trials` are recorded as cold and read nothing from the storage.",
    "caches": "The `states` of the caches; `verified` by bytes read from the storage.",
    "no-server": "All systems share the client's process.",
    "no-calibration": "The client was not measured alone.",
    "client-share-unrecorded": "The share of its cores that the client used was not recorded.",
    "calibration-brief": "The client was measured alone for `seconds`, which is too short.",
    "client-idle": "The client was measured alone, and used a share `below` this of its cores.",
    "work-failed": "`operations` and `checks` failed.",
    "nothing-checked": "No check was recorded.",
    "checks-passed": "`checks` passed; `optional` others count rows that the system may lose.",
    "durability": "Systems with `undeclared` durability.",
    "arms": "The `arms` of the run.",
    "no-load": "No phase is a load.",
    "loads-timed": "Loads ended after a time.",
    "settled": "Acknowledged and settled times are recorded.",
    "settled-unrecorded": "No settled time was recorded.",
    "machine-unrecorded": "The machine was not recorded.",
    "controls": "Of `of` conditions of the machine, those that are `loose` are not controlled.",
    "mixed": "Trials of different work were combined on request; `text`.",
    "revision-unknown": "The revision is unknown.",
    "revision": "The `revision`; `changed`: with uncommitted changes.",
    "no-claim": "The run checks no published statement.",
    "claims-declared": "`claims` were declared before the run.",
    "no-closed-loop": "No phase with a closed loop has a rate and a latency.",
    "littles-law": "Rate times latency is the number in flight in `agreed` of `of` phases of trials, not in `phases`.",
    "no-query": "No phase asks queries.",
    "query-facts": "The facts of the queries that are `missing`.",
    "one-kind": "All systems are servers, or all are embedded.",
    "ranked-apart": "Servers and embedded systems are ranked separately.",
    "no-pace": "Phases of this workload have no label of their pace.",
    "no-operations": "No phase records operations.",
    "progress-unrecorded": "No intervals of a phase were recorded.",
    "warmup-unmarked": "`number` intervals are not marked as warm-up or measured.",
    "pace-unknown": "`number` phases of trials have no label of their pace.",
    "paces": "Of `of` phases of trials, those that are `loose`: label of the pace and number.",
    "no-single-operations": "The run records no single operations.",
    "no-histogram": "There is no histogram of the latencies of `phases`.",
    "histograms": "Latencies are whole histograms; `open_loop`: they count from the intended start.",
    "no-published-number": "The run repeats no published number.",
    "no-source": "These `claims` have no source.",
    "sources": "All `claims` have sources; `defects`: those of the published method are listed.",
    # Why a run that continues until its claims are decided gives one up.
    "final": "More trials cannot change the answer (`holds`).",
    "same-answers": "Further trials repeat the same answers.",
    "hopeless": "The chance of a verdict within `blocks` blocks is below `least`; `trials` would decide it.",
}
"""Code → its meaning and facts; docs/claims.md lists them."""


@dataclass(frozen=True)
class Reason:
    """One reason: a code of ``CODES``, and the facts that its wording needs."""

    code: str
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Values of JSON, and other reasons."""

    def row(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"code": self.code, "facts": {name: _plain(fact) for name, fact in self.facts.items()}}


def because(code: str, **facts: Any) -> Reason:
    """Return a reason."""
    assert code in CODES, code
    return Reason(code, facts)


def of_row(row: Mapping[str, Any]) -> Reason:
    """Return the reason that ``Reason.row`` made JSON of."""
    return Reason(row["code"], {name: _parsed(fact) for name, fact in row["facts"].items()})


def _parsed(fact: Any) -> Any:
    if isinstance(fact, dict):
        is_reason = fact.keys() == {"code", "facts"}
        return of_row(fact) if is_reason else {name: _parsed(held) for name, held in fact.items()}
    return [_parsed(held) for held in fact] if isinstance(fact, list) else fact


def _plain(fact: Any) -> Any:
    if isinstance(fact, Reason):
        return fact.row()
    if isinstance(fact, Mapping):
        return {name: _plain(held) for name, held in fact.items()}
    return [_plain(held) for held in fact] if isinstance(fact, list | tuple) else fact
