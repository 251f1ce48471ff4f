"""The reasons of verdicts and marks in words: with ``marks``, the only place that words ``analyse.reason``."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchbook.analyse import quantity
from benchbook.analyse.power import ENOUGH
from benchbook.analyse.reason import Reason, of_row
from benchbook.analyse.verdict import interval_words, percent, shown
from benchbook.analyse.wording import (
    factor_words,
    level_words,
    listing,
    one_device,
    replaced,
    shortfall,
    some,
)
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.expectation import Expectation
from benchbook.declare.metric import describe
from benchbook.errors import RequestError
from benchbook.plan.sequential import FIRST
from benchbook.report import holding, marks

if TYPE_CHECKING:
    from benchbook.analyse.ratio import Ratio
    from benchbook.analyse.rules import Finding

Facts = Mapping[str, Any]


def text(one: Reason) -> str:
    """Return a reason in words, without a full stop."""
    return "; ".join(parts(one))


def parts(one: Reason) -> list[str]:
    """Return a reason in words; one that names several others has a part for each."""
    if one.code != "refused":
        worded = WORDS[one.code]
        return [worded.format(**one.facts) if isinstance(worded, str) else worded(one.facts)]
    first, *others = [part for held in one.facts["because"] for part in parts(held)]
    return [f"not judged: {first}", *others]


def all_parts(found: Sequence[Reason]) -> list[str]:
    """Return several reasons in words."""
    return [part for one in found for part in parts(one)]


def sentence(found: Sequence[Reason]) -> str:
    """Return several reasons as one sentence, without a full stop."""
    return "; ".join(all_parts(found))


def why(finding: Finding) -> str:
    """Return why a rule has its mark."""
    return sentence(finding.because)


def of_ratio(ratio: Ratio) -> str:
    """Return why a ratio has no interval; empty if it has one."""
    return text(ratio.reason) if ratio.reason else ""


# Parts of reasons that are shown alone.


def briefly(unfit: Reason) -> str:
    """Return in short why a case is not judged; the reasons of the verdict have the details."""
    if unfit.code == "trials-lost":
        return "some of its trials do not count"
    if unfit.code == "refused":
        return text(unfit.facts["because"][0])
    return f"a phase under {unfit.facts['least']:g} s" if unfit.code == "short-phase" else text(unfit)


def lasted(short: Reason) -> str:
    """Return how long a short phase lasted."""
    return f"the phase {short.facts['phase']} lasted {short.facts['seconds']:.2g} s"


def condition(one: Reason) -> str:
    """Return a difference from the publication, with the titles of both systems."""
    if one.code == "system-in-place" and (there := published_title(one)) is not None:
        return f"{one.facts['title']} in place of {there}"
    return text(one).replace("_", " ") if one.code != "levels-instead" else text(one)


def _plain(value: object) -> str:
    """Return a setting in words: whole numbers with commas."""
    return f"{int(str(value)):,}" if str(value).isdecimal() else str(value)


def published_title(one: Reason) -> str | None:
    """Return the title of the published system that another one replaces; None if this checkout does not declare it."""
    try:
        return Catalogue().system(one.facts["published"]).title
    except RequestError:
        return None


# Looks at a run that continues until its claims are decided.


def look(taken: Mapping[str, Any]) -> str:
    """Return a look as one line."""
    found = [f"{name} is decided ({_decided(taken['verdicts'][name])})" for name in taken["decided"]]
    found += [
        f"{name} is given up: {sentence([of_row(one) for one in held['reasons']])}"
        for name, held in taken["given_up"].items()
    ]
    enough = taken["stopped"] and taken["block"] >= FIRST
    open_ = [
        f"{name} ({trials_needed(held['trials'])})" if enough else name
        for name, held in taken["undecided"].items()
    ]
    found += [f"undecided: {', '.join(open_)}"] if open_ else []
    found += [f"the run ends: {taken['stopped']}"] if taken["stopped"] else []
    error = f"{100 * taken['level']:.2g} %"
    return f"judged after block {taken['block']}, with an error of at most {error}: {'; '.join(found)}"


def _decided(one: Mapping[str, Any]) -> str:
    if one["holds"] == "open":
        return "the ratio is not as published, its direction is open"
    return holding.brief(one["holds"], one["size"])


def trials_needed(trials: int | None) -> str:
    """Return how many trials a verdict needs.

    >>> trials_needed(40)
    'about 40 trials of each side would decide it with 80 % chance'
    """
    if trials is None:
        return "no number of trials here would decide it at the measured ratio and spread: another processor is needed"
    return f"about {trials} trials of each side would decide it with {100 * ENOUGH:g} % chance"


# Levels and numbers.


def _case(levels: Facts) -> str:
    return _levels(levels) or "its only cell"


def _levels(levels: Facts) -> str:
    return ", ".join(level_words(*level) for level in levels.items())


def _wanted(levels: Facts) -> str:
    """Return the levels that a claim asks for."""
    return ", ".join(
        " or ".join(allowed) if factor == "system" else f"{factor.replace('_', ' ')} {' or '.join(allowed)}"
        for factor, allowed in levels.items()
    )


def _recorded(reason: str | None) -> str:
    """Return the reason that a trial recorded, without its full stop."""
    return (reason or "no reason was recorded").rstrip(".")


def _unavailable(reason: str | None) -> str:
    """Return why a system was unavailable; where it was looked for, and how to get it, is with the gaps."""
    return (reason or "no reason was recorded").partition(": ")[0].rstrip(".")


# The interval of a ratio and the expected ratio.


def _expected(facts: Facts) -> Expectation:
    held = facts["expected"]
    within = held["within"]
    return Expectation(held["kind"], held["value"], held["margin"], tuple(within) if within else None)


def _whole(facts: Facts) -> str:
    return f"{percent(facts['confidence'])} CI {interval_words(facts['low'], facts['high'])}"


def _narrow(facts: Facts) -> str:
    return f"the {percent(facts['confidence'], 2)} CI"


def _no_interval(facts: Facts) -> str:
    return text(facts["because"]) if facts["because"] else "there is no interval"


def _few(count: int, word: str, least: int) -> str:
    return f"{quantity.counted(count, word)}; an interval needs at least {least}"


def _within(facts: Facts) -> str:
    inside = _narrow(facts) if facts["narrow"] else f"the {_whole(facts)}"
    return f"{inside} lies {_band(_expected(facts))}"


def _direction(facts: Facts) -> str:
    expected = _expected(facts)
    side = "above" if expected.sign > 0 else "below"
    return f"the {_whole(facts)} lies {side} 1, and partly {_band(expected)}"


def _other_side(facts: Facts) -> str:
    expected = _expected(facts)
    other = "below" if expected.sign > 0 else "above"
    claimed = "" if expected.value == 1 else f" ({expected.value:.3g})"
    return f"the {_whole(facts)} lies {other} 1, on the other side of the published ratio{claimed}"


def _no_difference(facts: Facts) -> str:
    expected, narrow = _expected(facts), facts["narrow"]
    other_end = 1 / narrow["low"] if expected.sign > 0 else narrow["high"]
    near = f"{100 * (expected.no_difference - 1):.2g} %"
    side = "above" if expected.sign > 0 else "below"
    where = f"lies within {near} of" if other_end <= expected.no_difference else f"ends at most {near} {side}"
    return (
        f"a difference was published, but {_narrow(facts)} {where} 1, which is no difference "
        f"(the {_whole(facts)})"
    )


def _outside(facts: Facts) -> str:
    includes = ", and includes 1" if facts["includes_1"] else ""
    return f"the whole {_whole(facts)} lies {_not_in_band(_expected(facts))}{includes}"


def _not_in_band(expected: Expectation) -> str:
    low, high = expected.band
    if expected.within is not None and math.inf not in expected.within:
        return f"outside {low:.3g} to {high:.3g}"
    if expected.kind in ("at-least", "at-most") or expected.within is not None:
        return f"below {low:.3g}" if high == math.inf else f"above {high:.3g}"
    what = "1" if expected.kind == "equal" else f"the published {expected.value:.3g}"
    return f"outside the band of {100 * expected.margin:g} % around {what} ({low:.3g} to {high:.3g})"


def _band(expected: Expectation) -> str:
    low, high = expected.band
    share = f"{100 * expected.margin:g} %"
    if expected.within is not None and math.inf not in expected.within:
        return f"between {low:.3g} and {high:.3g}"
    if expected.kind in ("at-least", "at-most") or expected.within is not None:
        side, end = ("above", low) if high == math.inf else ("below", high)
        if not expected.margin or expected.within is not None:
            return f"{side} {end:.3g}"
        return f"{side} {end:.3g} ({expected.value:.3g} and {share})"
    what = "1" if expected.kind == "equal" else f"the published {expected.value:.3g}"
    return f"within {share} of {what} ({low:.3g} to {high:.3g})"


# Two setups compared without a claim.


def _compared(facts: Facts) -> str:
    """Return the two of which no difference can be claimed, and their interval."""
    return f"no difference can be claimed between {facts['a']} and {facts['b']}: {_times_as_good(facts)}"


def _times_as_good(facts: Facts) -> str:
    """Return the interval with its direction: a page may show the same two the other way round."""
    ends = interval_words(facts["low"], facts["high"])
    return f"{facts['a']} is {ends} times as good as {facts['b']} ({percent(facts['confidence'])} CI)"


def _better(facts: Facts) -> str:
    value, trials = shown(facts["value"]), facts["trials"]
    interval = f"{percent(facts['confidence'])} CI {interval_words(facts['low'], facts['high'])}"
    return (
        f"{facts['winner']} is {value} times as {facts['quality']} as {facts['other']} ({interval}, {trials} "
        f"{'trial' if trials == 1 else 'trials'})"
    )


# All cases of a claim.

NEEDED = {"all": "all", "most": "more than half", "any": "at least one"}
"""In how many cases a claim must hold."""


def _cases(facts: Facts) -> str:
    counted = [
        f"{holding.brief(one['holds'], one['size'])} in {len(one['cases'])} ({some([*map(_case, one['cases'])])})"
        for one in facts["answers"]
    ]
    if unfit := [f"{_case(one['case'])}: {text(one['because'])}" for one in facts["unfit"]]:
        counted.append(f"no result in {len(unfit)} ({some(unfit)})")
    if lost := [text(one) for one in facts["lost"]]:
        counted.append(f"lost in {len(lost)} ({some(lost)})")
    if facts["not_run"]:
        counted.append(f"{facts['not_run']} not run")
    return (
        f"{facts['cases']} cases, and the claim must hold in {NEEDED[facts['needed']]} of them: judged one by one, "
        f"{', '.join(counted)}"
    )


def by_level(facts: Facts) -> str:
    """Return the answers at the levels of a factor that the publication leaves open."""
    return "; ".join(
        f"{holding.brief(one['holds'], one['size'])} with "
        f"{some([level_words(facts['factor'], level) for level in one['levels']])}"
        for one in facts["answers"]
    )


def _no_valid_trial(facts: Facts) -> str:
    skipped = list(facts["statuses"]) == ["skipped"]
    reason = _unavailable(facts["why"]) if skipped else _recorded(facts["why"])
    return f"every trial of {_wanted(facts['levels']) or 'it'} is {' or '.join(facts['statuses'])} ({reason})"


def _trials_lost(facts: Facts) -> str:
    verb = "does" if facts["trials"] == 1 else "do"
    return f"{facts['trials']} of {facts['of']} trials of {facts['setup']} {verb} not count ({text(facts['because'])})"


def _no_common_block(facts: Facts) -> str:
    if facts["over_metric"] is None:
        return f"no block has {facts['metric']} of both sides"
    return f"no block has both {facts['metric']} and {facts['over_metric']}"


def _not_measured(facts: Facts) -> str:
    return f"the publication also has {some([_levels(one) for one in facts['cases']])}, which this run did not measure"


def _levels_unstated(facts: Facts) -> str:
    names = " or ".join(map(factor_words, facts["levels"]))
    judged = [level_words(factor, level) for factor, levels in facts["levels"].items() for level in levels]
    return f"the publication states no {names}: judged with {' and '.join(judged)}"


def _failures(facts: Facts) -> str:
    named = [
        f"{one['operations']:,} with {_levels(one['case'])} ({one['message']})" for one in facts["failures"]
    ]
    return f"failed operations: {', '.join(named)}"


def _published_spread(facts: Facts) -> str:
    share = f"{100 * facts['spread']:g} %"
    if facts["cases"] == 1:
        word = "consistent" if facts["consistent"] else "inconsistent"
        return f"if the published number varies by {share} from run to run, it is {word} with the rerun"
    consistent = f"{facts['consistent']} of {facts['cases']} cases are consistent with them"
    return f"if the published numbers vary by {share} from run to run, {consistent}"


def _transport(facts: Facts) -> str:
    systems = facts["systems"]
    verb = "share" if len(systems) > 1 else "shares"
    return f"{' and '.join(systems)} {verb} the client's process, so those numbers include no transport"


def _out_of_reach(facts: Facts) -> str:
    name = factor_words(facts["what"]) if facts["factor"] else describe(facts["what"]).title.lower()
    bound, value = (
        ("at least", facts["at_least"]) if facts["at_least"] is not None else ("at most", facts["at_most"])
    )
    unit = facts["unit"] or "1"
    shown = "{:,.7g}".format if facts["factor"] else functools.partial(quantity.text, unit=unit)
    here = "was not measured" if facts["measured"] is None else f"is {shown(facts['measured'])}"
    needed = f"{bound} {shown(value)} is needed: {facts['why'].rstrip('.')}"
    return f"{name} of {facts['setup']} {here}, and {needed}"


def _few_trials(facts: Facts) -> str:
    smallest = " in the smallest case" if facts["smallest"] else ""
    of_run = " in this run" if facts.get("of_run") else ""
    return f"{quantity.counted(facts['trials'], 'trial')} of each side{smallest}{of_run}"


def _step(facts: Facts) -> str:
    before, after = (level_words(facts["factor"], facts[end]) for end in ("first", "last"))
    return f"it {facts['moved']} from {before} to {after}"


def _hopeless(facts: Facts) -> str:
    chance = f"its chance of a verdict within {facts['blocks']} blocks is below {100 * facts['least']:g} %"
    return f"{chance}; {trials_needed(facts['trials'])}"


WORDS: dict[str, str | Callable[[Facts], str]] = {
    "within": _within,
    "direction": _direction,
    "other-side": _other_side,
    "step-reversed": lambda facts: f"one step goes the other way (last over first: the {_whole(facts)})",
    "no-difference": _no_difference,
    "outside": _outside,
    "includes-1": lambda facts: f"the {_whole(facts)} includes 1",
    "too-wide": lambda facts: (
        f"the {_whole(facts)} is too wide: it lies only partly {_band(_expected(facts))}"
    ),
    "no-interval": _no_interval,
    "no-pairs": "no pairs",
    "few-pairs": lambda facts: _few(facts["pairs"], "pair", facts["least"]),
    "few-values": lambda facts: _few(facts["trials"], "trial", facts["least"]),
    "no-values": "one side has no trials",
    "negative-value": "a value is negative, or not a number",
    "zero-value": "a value is not above zero",
    "all-zero": "all values of one side are zero",
    "cases": _cases,
    "alone": lambda facts: (
        f"on their own, enough cases {'hold' if facts['holds'] else 'speak against it'}, "
        "but not when all are tested together at 5 %"
    ),
    "depends": lambda facts: f"depends on {factor_words(facts['factor'])}: {by_level(facts)}",
    "levels-disagree": lambda facts: f"{by_level(facts)}: the publication does not state which it means",
    "smaller-load": "a smaller load than the published one does not show what fails there",
    "compared-better": _better,
    "compared-equal": lambda facts: (
        f"{facts['a']} and {facts['b']} do not differ: {_times_as_good(facts)}, "
        f"which is within {100 * facts['within']:g} % of 1"
    ),
    "compared-includes-1": lambda facts: f"{_compared(facts)}, which includes 1",
    "compared-family": lambda facts: (
        f"{_compared(facts)}, which excludes 1 alone, but not among {facts['among']} comparisons (Holm's correction)"
    ),
    "compared-no-interval": lambda facts: (
        f"no verdict on {facts['a']} and {facts['b']}: {_no_interval(facts)}"
    ),
    "compared-unfit": lambda facts: f"no verdict on {facts['a']} and {facts['b']}: {text(facts['because'])}",
    "not-ranked": "embedded systems and servers are not ranked together",
    "ci-excludes-1": "the 95 % CI excludes 1",
    "ci-includes-1": "the 95 % CI includes 1",
    "ci-excludes-1-alone": (
        "the 95 % CI excludes 1 alone, but not among {among} comparisons (Holm's correction)"
    ),
    "runs-answer-differently": (
        "the two runs answered {number} values differently, so the work is not the same"
    ),
    "answers-agree": "{agreed} of {compared} answers agree",
    "first-differing": "the first that differs is {query}",
    "few-answers": "{agreed} of {compared} answers agree, and fewer than {least} show little",
    "answers-unrecorded": "no answers to {phase} were recorded",
    "not-in-run": lambda facts: f"{_wanted(facts['levels'])} is not in this run",
    "no-valid-trial": _no_valid_trial,
    "other-version": "{system} stated version {stated}, and the claim is about {asked}",
    "underspecified": "{text}",
    "no-case": "no case of this run has both sides",
    "case-lost": lambda facts: f"{_case(facts['case'])}: {text(facts['because'])}",
    "trials-lost": _trials_lost,
    "trials-skipped": lambda facts: (
        f"every trial of {facts['setup']} is skipped ({_unavailable(facts['why'])})"
    ),
    "no-common-block": _no_common_block,
    "recorded": lambda facts: facts["text"].split("\n")[0].rstrip("."),
    "saturated": "the offered rate was not reached, so its latencies only show how long the phase was",
    "unmeasured": "it has no {metric}",
    "not-published": lambda facts: f"there is no published number for {_case(facts['case'])}",
    "no-published-ratio": lambda facts: (
        f"the publication has no ratio for {_case(facts['case'])} ({facts['note']})"
    ),
    "not-measured": _not_measured,
    "not-measured-here": "it was not measured",
    "other-work": "the run did other work for this claim: other options, data or versions",
    "declared-otherwise": "the run declared this claim differently, or not at all",
    "substitute": "{system} is in place of {named}",
    "substitute-verdict": lambda facts: (
        f"for the substitute alone the answer would be: {holding.brief(facts['holds'], facts['size'])}"
    ),
    "out-of-reach": _out_of_reach,
    "other-errors": lambda facts: (
        f"{quantity.counted(facts['operations'], 'operation')} of {facts['setup']} failed with"
        f" {', '.join(facts['messages'])},"
        f' and only "{facts["error"]}" may occur: {facts["why"].rstrip(".")}'
    ),
    "cases-unmet": lambda facts: (
        f"{facts['cases']} of {facts['of']} cases cannot be tested here; the first of them: {text(facts['because'])}"
    ),
    "virtual-machine": lambda facts: (
        f"{'this is' if facts.get('known', True) else 'this may be'} a virtual machine, and a physical one is needed: "
        f"{facts['why'].rstrip('.')}"
    ),
    "idle": "{idle} of {of} trials of {setup} measured a rate of 0",
    "operations-failed": lambda facts: f"{quantity.counted(facts['number'], 'operation')} failed",
    "not-cold": (
        "{phase} asked for cold caches, and in {number} of {of} trials of {setup} they were not cold (lukewarm)"
    ),
    "short-phase": "the phase {phase} lasted {seconds:.2g} s, and one under {least:g} s is not judged",
    "answers-missing-all": (
        "no answers were recorded, so it is unknown whether the systems did the same work"
    ),
    "answers-missing-of": lambda facts: (
        f"{facts['number']} of {facts['of']} trials of {facts['system']} ({facts['arm']}) have no recorded answers, so"
        " it is unknown whether the systems did the same work"
    ),
    "answers-differ": lambda facts: (
        f"the answers of the systems to {', '.join(facts['query_types'])} differ in "
        f"{quantity.counted(facts['number'], 'value or row', 'values or rows')}"
    ),
    "answers-empty": lambda facts: (
        f"every system answered {some(facts['queries'])} with no rows, which shows nothing"
    ),
    "answers-missing": lambda facts: f"there is no answer to {some(facts['queries'])}",
    "versions-differ": "they used {number} different versions of one {what}",
    "configurations-differ": "the trials of {cell} had {number} different configurations",
    "measured-with": lambda facts: f"measured with {', and with '.join(map(text, facts['conditions']))}",
    "system-in-place": "{title} in place of {published}",
    "levels-in-place": lambda facts: replaced(
        facts["factor"], facts["here"], "in place of", facts["published"], "and"
    ),
    "levels-instead": lambda facts: replaced(
        facts["factor"], facts["here"], "instead of", facts["published"]
    ),
    "settings-instead": lambda facts: (
        f"{facts['name'].replace('_', ' ')} {listing(list(map(_plain, facts['here'])))}"
        f" instead of {listing(list(map(_plain, facts['published'])), 'or')}"
    ),
    "scaled": lambda facts: shortfall(**facts),
    "levels-unstated": _levels_unstated,
    "corrected": lambda facts: (
        f"the claim was declared after this run: corrected on {facts['date']} ({facts['reason'].rstrip('.')})"
    ),
    "declared-later": lambda facts: (
        f"{facts['runs']} of the {quantity.counted(facts['of'], 'run')} behind this answer"
        " did not declare this claim, or declared it otherwise"
    ),
    "smoke": "profile smoke is for tests: its numbers show little",
    "unfinished": "the run is unfinished",
    "noise-unknown": "the noise between equal setups is unknown for this number (an A/A run measures it)",
    "noise": lambda facts: (
        f"noise between equal setups: {100 * (facts['factor'] - 1):.2g} % (included in the interval)"
    ),
    "look": "judged after {blocks} blocks (at most {maximum}), at significance level {level:.2g}",
    "few-trials": _few_trials,
    "outliers": lambda facts: f"{quantity.counted(facts['number'], 'outlier')}, kept",
    "defects": lambda facts: (
        f"{facts['trials']} of {facts['of']} trials of {facts['setup']} have a defect outside this phase "
        f"({_recorded(facts['why'])})"
    ),
    "failures": _failures,
    "published-spread": _published_spread,
    "unsteady": ("in {trials} of {of} trials, no part of the load was steady, so its second half counts"),
    "transport": _transport,
    "one-device": lambda facts: one_device(**facts),
    "in-flight": "the sides are compared at different numbers of operations in flight",
    "span": lambda facts: (
        f"from {level_words(facts['factor'], facts['first'])} to {level_words(facts['factor'], facts['last'])}"
    ),
    "no-number-for-span": "the publication has no number for this whole range",
    "against-trend": lambda facts: f"against the trend: {some([text(one) for one in facts['steps']])}",
    "step": _step,
    "final": lambda facts: f"its answer is {holding.brief(facts['holds'])}",
    "same-answers": "further trials repeat the same answers",
    "hopeless": _hopeless,
    **marks.WORDS,
}
"""Code → its wording: a template of its facts, or a function of them."""
