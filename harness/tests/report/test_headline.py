"""The headline of a report: the finding on the claims that answer the question, and what it means."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.analyse import claims, wording
from benchbook.analyse.judgement import NONE, answer, evidence
from benchbook.analyse.model import Fit
from benchbook.analyse.reason import because
from benchbook.declare.expectation import Expectation
from benchbook.declare.metric import Metric
from benchbook.declare.publication import Publication
from benchbook.report import claim, conclusion

SHORT = because("short-phase", phase="load", seconds=0.2, least=1.0)
OVER, OF = "influxdb-1.8.10", "cnosdb-2.0.1"


def cell(level: str = "5000", low: float | None = 1.04, high: float | None = 1.28, **other: Any) -> Any:
    sides = SimpleNamespace(
        cells=tuple(
            SimpleNamespace(system=system, levels={"system": system, "batch_size": level})
            for system in (OVER, OF)
        ),
        factors=["system"],
        levels={"batch_size": level},
    )
    found = {
        "sides": sides, "failed": 0, "measured": 1.16, "low": low, "high": high, "unfit": None, "published": 1.22,
        "expected": Expectation("ratio", 1.22), "verdict": "reproduced", "unit": "1/s", "published_of": 43.0,
        "published_over": 49.0,
    } | other  # fmt: skip
    fit = FITS.get(found["verdict"])
    found.setdefault("evidence", evidence(fit, found["expected"]) if fit else NONE)
    found.setdefault("because", because("too-wide"))
    seen = [(found["evidence"], found["expected"])]
    return SimpleNamespace(**found, answer=answer(found["verdict"], seen))


FITS = {
    "reproduced": Fit(math.log(1.22), 0.01, 9.0, 10, 0.03),
    "contradicted": Fit(math.log(0.8), 0.01, 9.0, 10, 0.03),
    "different size": Fit(math.log(2), 0.01, 9.0, 10, 0.03),
}
"""Verdict → a pooled ratio that has it; the published one is 1.22."""


def judged(verdict: str = "reproduced", *cells: Any, **other: Any) -> Any:
    found = {
        "id": "ratios", "statement": "CnosDB is faster.", "source": "its documentation", "published": 1.22,
        "measured": 1.16, "low": 1.04, "high": 1.28, "level": 0.05, "verdict": verdict, "reasons": (),
        "phase": "load", "metric": "rows_per_second", "test": "ratio", "notes": (),
        "cells": cells or (cell(verdict=verdict),),
        "conditions": (), "over_metric": None, "in_cells": "all", "missing": 0, "own": False, "scope": "processors",
        "from_publication": True, "worded": False, "by_case": (),
        "fit": FITS.get(verdict),
    }  # fmt: skip
    return SimpleNamespace(**{**found, **other})


RUN: Any = SimpleNamespace(
    experiment="quickstart",
    title=lambda name: {OVER: "InfluxDB 1.8.10", OF: "CnosDB 2.0.1"}[name],
    cells=[SimpleNamespace(varying=(("batch_size", "5000"),))],
    queries=["1-host-1-hr"],
)


def test_the_finding_names_who_what_by_how_much_and_what_was_published():
    assert claim.sentence(RUN, judged()) == (
        "CnosDB 2.0.1 loaded 1.16 times as many rows per second as InfluxDB 1.8.10 "
        "(95 % CI 1.04-1.28); the published ratio is 1.22."
    )


def test_a_median_is_what_usually_happened():
    said = claim.sentence(RUN, judged(metric="latency_p50", phase="1-host-1-hr"))
    same = "A query of type 1-host-1-hr usually took 1.16 times as long with CnosDB 2.0.1 as with InfluxDB 1.8.10"
    assert said.startswith(f"{same} (95 % CI")


def test_what_was_done_may_be_a_factor():
    one = cell()
    one.sides.levels = {"do": "get"}
    said = claim.sentence(RUN, judged("reproduced", one, metric="latency_mean", phase="main"))
    assert said.startswith(
        "Getting took 1.16 times as long with CnosDB 2.0.1 as with InfluxDB 1.8.10 (95 % CI"
    )


def of_case(**levels: str) -> Any:
    one = cell()
    one.sides.levels = levels
    return one


def test_cases_that_do_several_things_have_no_verb_of_the_first():
    both = (of_case(do="put"), of_case(do="get"))
    said = claim.sentence(RUN, judged("reproduced", *both, metric="latency_mean", phase="main"))
    assert said.startswith("An operation in phase main took 1.16 times as long with CnosDB 2.0.1 as with")
    rate = claim.sentence(RUN, judged("reproduced", *both, metric="objects_per_second", phase="main"))
    assert rate.startswith("CnosDB 2.0.1 handled 1.16 times as many objects per second")


def test_a_claim_on_several_phases_names_none_of_them():
    phases = (of_case(phase="1-host-1-hr"), of_case(phase="main"))
    every = {"phase": "1-host-1-hr", "test": "at-least"}
    said = claim.sentence(RUN, judged("reproduced", *phases, metric="latency_mean", **every))
    assert said.startswith("An operation took 1.16 times as long with CnosDB 2.0.1 as with")
    memory = claim.sentence(RUN, judged("reproduced", *phases, metric="server_rss_peak_bytes", **every))
    assert " in phase " not in memory


def test_the_tool_of_a_publication_is_named_in_place_of_its_phase():
    one = cell()
    one.sides.levels = {"tool": "inch"}
    took = claim.sentence(RUN, judged("reproduced", one, metric="seconds", phase="tool"))
    assert took.startswith("In inch, CnosDB 2.0.1 took 1.16 times as long as InfluxDB 1.8.10 (95 % CI")
    each = claim.sentence(RUN, judged("reproduced", one, metric="latency_mean", phase="tool"))
    assert each.startswith("In inch, an operation took 1.16 times as long with CnosDB 2.0.1 as with")


def test_sides_of_one_system_are_named_by_what_differs():
    one = cell()
    one.sides.cells = tuple(
        SimpleNamespace(system=OF, levels={"system": OF, "arm": arm, "batch_size": "1"}) for arm in ("a", "b")
    )
    one.sides.factors = ["arm"]
    said = claim.sentence(RUN, judged("reproduced", one))
    same = (
        "CnosDB 2.0.1 with configuration b loaded 1.16 times as many rows per second as with configuration a"
    )
    assert said.startswith(f"{same} (95 % CI")
    slower = claim.sentence(RUN, judged("reproduced", one, metric="latency_mean", phase="groupby"))
    assert slower.startswith(
        "With CnosDB 2.0.1, an operation in phase groupby took 1.16 times as long with configuration b as with "
        "configuration a (95 % CI"
    )
    query = claim.sentence(RUN, judged("reproduced", one, metric="latency_mean", phase="1-host-1-hr"))
    assert query.startswith(
        "With CnosDB 2.0.1, a query of type 1-host-1-hr took 1.16 times as long with configuration b as with"
    )


def test_a_ratio_pooled_over_systems_is_not_said_of_the_first():
    def of(system: str) -> Any:
        one = cell()
        one.sides.cells = tuple(
            SimpleNamespace(system=system, levels={"system": system, "batch_size": size})
            for size in ("100", "1000")
        )
        one.sides.factors = ["batch_size"]
        return one

    said = claim.sentence(RUN, judged("reproduced", of(OF), of(OVER)))
    assert said.startswith(
        "CnosDB 2.0.1 and InfluxDB 1.8.10 with batches of 1,000 loaded 1.16 times as many rows"
    )


def test_a_storage_and_a_cache_are_named():
    assert wording.level_words("storage", "minio-s3fs") == "its files on a MinIO bucket mounted by s3fs"
    assert wording.level_words("cache", "warm") == "warm caches"


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("reproduced", "Holds, as published. CnosDB 2.0.1 loaded 1.16 times"),
        ("different size", "The direction is as published, but the ratio is not."),
        ("direction only", "The direction is as published; the ratio is uncertain."),
        ("contradicted", "Reversed. CnosDB 2.0.1 loaded 1.16 times"),
        ("inconclusive", "ratio is 1.22. The interval is too wide for a decision."),
        ("underspecified", "says too little to check it."),
        ("substitute only", "A substitute was measured"),
        ("not run", "did not measure it."),
    ],
)
def test_every_verdict_has_a_meaning(verdict: str, words: str):
    assert words in claim.finding(RUN, judged(verdict))


def test_an_open_verdict_counts_what_its_cases_show():
    found = (cell(verdict="contradicted"), cell(verdict="inconclusive"), cell(unfit=SHORT))
    assert claim.meaning(judged("inconclusive", *found)) == ("Of 3 cases: 1 reversed; 1 open; 1 not judged.")


def test_what_a_setup_does_is_named_where_its_phase_does_several_things(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    did = Metric(
        "entries_per_second",
        "1/s",
        "higher",
        "Entries",
        did="did {ratio} times as many {phase} operations as",
    )
    monkeypatch.setattr(claim, "describe", lambda _: did)
    one = cell()
    assert "did 1.16 times as many write operations as" in claim.sentence(
        RUN, judged("reproduced", one, phase="write")
    )
    one.sides.levels["do"] = "fill-random"
    said = claim.sentence(RUN, judged("reproduced", one, phase="write"))
    assert "did 1.16 times as many fill-random operations as" in said


def test_a_claim_without_a_ratio_says_why_it_is_open() -> None:
    lost = because("case-lost", case={"workers": "8"}, because=because("all-zero"))
    open_one = judged("inconclusive", cells=(), reasons=(lost,))
    assert (
        claim.meaning(open_one)
        == "There is no ratio (8 operations in flight: all values of one side are zero)."
    )


def test_our_own_question_is_no_published_result():
    own = judged("contradicted", own=True)
    assert claim.sentence(RUN, own).endswith("; the publication did not measure this.")


@pytest.mark.parametrize(
    ("test", "published", "said", "was"),
    [
        ("at-least", 1.0, "the claim is a ratio above 1.", "claimed ≥ 1.00"),
        ("at-most", 1.0, "the claim is a ratio below 1.", "claimed ≤ 1.00"),
        ("ratio", 2.0, "the claim is a ratio of 2.00.", "claimed 2.00"),
    ],
)
def test_without_a_publication_nothing_is_called_published(test: Any, published: float, said: str, was: str):
    held = cell(expected=Expectation(test, published))
    one = judged("reproduced", held, test=test, published=published, from_publication=False)
    assert claim.sentence(RUN, one).endswith(f"; {said}")
    assert claim.was(one) == was


def test_with_failures_neither_is_better():
    assert "1 operation failed, so neither side" in claim.meaning(judged("inconclusive", cell(failed=1)))


def test_opposite_results_by_size_read_depends_on_object_size():
    one = judged(
        "underspecified",
        reasons=(
            because(
                "depends",
                factor="size",
                answers=[
                    {"holds": "holds", "size": None, "levels": ["4KiB"]},
                    {"holds": "reversed", "size": None, "levels": ["64KiB"]},
                ],
            ),
        ),
    )
    assert claim.word(one) == "not comparable (depends on object size)"
    assert claim.meaning(one) == (
        "Holds with objects of 4 KiB; reversed with objects of 64 KiB; the publication does not state it."
    )
    assert claim.has_ratio(one)


def test_a_ratio_of_a_statement_without_any_number_is_not_shown():
    assert not claim.has_ratio(judged("underspecified", published=None, measured=17.6))
    assert claim.has_ratio(judged("underspecified"))
    assert not claim.has_ratio(judged("not run", measured=None))


def test_a_ratio_that_depends_on_a_factor_says_so():
    low, high = cell("10000", 0.72, 0.98, measured=0.84), cell("1", 1.36, 1.95, measured=1.63)
    assert claim.sentence(RUN, judged("contradicted", low, high)) == (
        "CnosDB 2.0.1 loaded 0.840 to 1.63 times as many rows per second as InfluxDB 1.8.10 in 2 cases "
        "(95 % CIs between 0.720 and 1.95); the published ratio is 1.22."
    )
    each = (low, cell("1", 1.36, 1.95, measured=1.63, published=2.4))
    assert claim.sentence(RUN, judged("contradicted", *each)).endswith("; published: 1.22 to 2.40.")
    pooled = claim.sentence(RUN, judged("contradicted", low, cell("1", 0.9, 1.95, measured=1.2)))
    assert "(95 % CI 1.04-1.28, pooled over batches of 10,000 and batches of 1)" in pooled


def test_a_pooled_ratio_hides_no_case():
    low, high = cell("1", 0.2, 0.4, measured=0.3), cell("5000", 0.3, 0.9, measured=0.5)
    alike = judged("reproduced", low, high, low=0.2, high=0.8)
    assert claims.ends(alike) is None
    wide = judged(
        "reproduced", low, high, low=0.05, high=2.0
    )  # the interval of two cases has one degree of freedom
    assert claims.ends(wide) == (low, high)
    other = cell("5000", 0.3, 0.9, measured=0.5, verdict="inconclusive")
    assert claims.ends(judged("inconclusive", low, other, low=0.2, high=0.8)) == (low, other)


def test_another_size_says_whether_its_direction_is_certain():
    assert claim.word(judged("different size")) == "holds, larger"
    wide = Fit(math.log(0.7), 0.2, 9.0, 10, 0.6)
    uncertain = cell(verdict="different size", evidence=evidence(wide, Expectation("ratio", 1.22)))
    assert claim.word(judged("different size", uncertain)) == "open"
    assert claim.meaning(judged("different size", uncertain)) == (
        "The difference is smaller than published, if there is any: the interval includes 1."
    )


def test_a_bound_is_not_called_a_published_number():
    bound = cell(expected=Expectation("at-least", 1.0, 0.0))
    said = claim.sentence(RUN, judged("reproduced", bound, test="at-least", published=1.0))
    assert said.endswith("; the publication claims a ratio above 1.")
    assert claim.stated(judged("reproduced", bound, test="at-least", published=1.0)).text == "≥ 1.00"


def test_a_bound_for_words_is_said_to_be_ours():
    bound = cell(expected=Expectation("at-most", 1.1, 0.0))
    one = judged("contradicted", bound, test="at-most", published=1.09, worded=True)
    assert claim.sentence(RUN, one).endswith(
        "; published in words, which we take as a ratio of at most 1.10."
    )
    assert claim.was(one) == "published in words, which we take as ≤ 1.10"


@pytest.mark.parametrize(
    ("share", "words"), [("most", " in most cases"), ("any", " in some cases"), ("all", "")]
)
def test_a_claim_on_some_cases_says_on_how_many(share: str, words: str):
    bound = cell(expected=Expectation("at-least", 1.0, 0.0))
    one = judged("reproduced", bound, test="at-least", published=1.0, in_cells=share)
    assert claim.sentence(RUN, one).endswith(f"; the publication claims a ratio above 1{words}.")


def test_words_of_a_publication_are_shown_as_their_band():
    within = cell(expected=Expectation("ratio", 1.1, 0.0, (1.02, 1.2)), published=None)
    one = judged("inconclusive", within, published=None)
    assert claim.stated(one).text == "1.02-1.2"
    assert claim.sentence(RUN, one).endswith("; the published words are read as 1.02-1.2.")


def test_a_caveat_is_beside_its_number():
    one = judged(
        "inconclusive",
        cell(unfit=SHORT),
        conditions=(because("levels-in-place", factor="workers", here=["12"], published=["100"]),),
        notes=(because("one-device", storage="loop", disks=4, device="vda", writes_per_second=None),),
    )
    assert claim.caveats(one) == [
        "measured with 12 operations in flight in place of 100",
        "not judged (a phase under 1 s)",
        "The 4 disks of storage loop are files on one device (vda), which they share, so separate disks may gain more",
    ]


def led(monkeypatch: pytest.MonkeyPatch, *found: Any, **conclusions: int) -> list[tuple[str, str]]:
    """Return label and id of the claims in a headline; ``conclusions`` are the numbers that today's claims declare."""
    monkeypatch.setattr(claims, "over", lambda *_: tuple(found))
    declared = {name: {"conclusion": number} for name, number in conclusions.items()}
    monkeypatch.setattr(conclusion.Catalogue, "claims", lambda *_: declared)
    run: Any = SimpleNamespace(against_itself=False, declared={"claims": [{}]}, experiment="quickstart")
    return [(label, one.id) for label, one in conclusion.leading(run)]


def test_the_headline_is_the_first_conclusion_in_all_its_claims(monkeypatch):
    table, first, also, last = (judged(id=name) for name in ("table", "first", "also", "last"))
    found = led(monkeypatch, table, last, first, also, last=3, first=1, also=1)
    assert found == [("Conclusion 1", "first"), ("Conclusion 1", "also"), ("Conclusion 3", "last")]
    assert led(monkeypatch, table, first) == [("Found", "table"), ("Found", "first")], "no publication"
    with monkeypatch.context() as other:
        other.setattr(
            conclusion.Catalogue, "publication", lambda *_: Publication(title="P", claimed="It is.")
        )
        assert led(monkeypatch, table, first) == [("Found", "table")], "no conclusion is declared"
    many = dict.fromkeys("abcdef", 1)
    assert len(led(monkeypatch, *(judged(id=name) for name in many), judged(id="g"), **many, g=2)) == len(
        many
    )


def test_the_first_conclusion_leads_even_if_nothing_was_measured_of_it(monkeypatch):
    unmeasured = judged("not run", id="first", cells=(), measured=None)
    [(_, name)] = led(monkeypatch, judged(), unmeasured, first=1)
    assert name == "first"
    assert claim.found(RUN, unmeasured) == "The claim: CnosDB is faster."


def test_a_question_of_ours_leads_only_alone(monkeypatch):
    own = judged(id="own", own=True)
    assert led(monkeypatch, own, judged()) == [("Found", "ratios"), ("Found", "own")]
    assert led(monkeypatch, own) == [("Found", "own")]


def test_a_trend_alone_is_no_answer(monkeypatch):
    assert led(monkeypatch, judged(test="rises")) == []


def test_cases_that_disagree_are_counted():
    one = judged(
        "contradicted",
        cell(verdict="contradicted"),
        cell(verdict="different size"),
        cell(verdict="reproduced"),
    )
    assert claim.meaning(one) == "Of 3 cases: 1 reversed; 1 holds but larger; 1 holds as published."
    assert claim.word(one) == "reversed in 1 of 3 cases"


def test_cases_that_differ_say_on_which_side_of_1_each_lies():
    found = (
        cell("1", low=1.2, high=1.4, measured=1.3),
        cell("1000", low=0.9, high=1.1, measured=1.0),
        cell("5000", low=0.5, high=0.7, measured=0.6, verdict="contradicted"),
        cell("10000", low=0.4, high=0.6, measured=0.5, verdict="contradicted"),
    )
    one = judged("contradicted", *found)
    assert claim.finding(RUN, one) == (
        "Reversed in 2 of 4 cases. CnosDB 2.0.1 loaded 0.500 to 1.30 times as many rows per second as InfluxDB 1.8.10 "
        "in 4 cases (95 % CIs between 0.400 and 1.40); the published ratio is 1.22. Of 4 cases (one per batch size), "
        "the ratio is clearly below 1 with batches of 5,000 and 10,000 and clearly above 1 with batches of 1."
    )
    failed = (*found[:3], cell("10000", low=0.4, high=0.6, measured=0.5, failed=2))
    assert "2 operations failed" in claim.finding(RUN, judged("inconclusive", *failed))


def test_cases_that_are_not_judged_have_no_direction():
    judged_ones = (cell("1", low=1.2, high=1.4, measured=1.3), cell("1000", low=0.5, high=0.7, measured=0.6))
    unfit = (cell(size, low=2.0, high=3.0, measured=2.5, unfit=SHORT) for size in ("5000", "10000"))
    assert claim.finding(RUN, judged("inconclusive", *judged_ones, *unfit)) == (
        "Open. CnosDB 2.0.1 loaded 0.600 to 1.30 times as many rows per second as InfluxDB 1.8.10 in the 2 of 4 cases "
        "that are judged (95 % CIs between 0.500 and 1.40); the published ratio is 1.22. Of 4 cases (one per batch "
        "size), 2 are not judged (a phase under 1 s); of the others, the ratio is clearly above 1 with batches of 1 "
        "and clearly below 1 with batches of 1,000."
    )


def test_cases_that_are_all_on_one_side_are_not_listed():
    above = [cell("1", low=1.2, high=1.4, measured=1.3), cell("5", low=2.2, high=2.4, measured=2.3)]
    one = judged("different size", *above)
    assert "The ratio is clearly above 1 in all 2 cases (one per batch size)." in claim.finding(RUN, one)
    unclear = [cell(size, low=0.7, high=1.4, measured=1.0, verdict="inconclusive") for size in ("1", "5")]
    one = judged("inconclusive", *unclear, cell("9", low=0.9, high=1.2, measured=1.1, verdict="reproduced"))
    said = "Of 3 cases (one per batch size), the ratio is not clearly above or below 1 in any."
    assert said in claim.finding(RUN, one)


def test_processors_on_both_sides_of_the_bound_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = [SimpleNamespace(centre=math.log(ratio)) for ratio in (0.5, 2.0)]
    monkeypatch.setattr(claim.grade, "apart", lambda _: fits)
    said = "Processors disagree: the ratio is 0.500 and 2.00 on 2 of them."
    assert claim.finding(RUN, judged("inconclusive")).endswith(said)


def test_lines_of_one_conclusion_share_its_name():
    lines = [
        conclusion.Line(name, text, text) for name, text in (("A", "x"), ("A", "y"), ("B", "z"), ("A", "w"))
    ]
    assert (
        conclusion.definitions(lines)
        == "<dt>A</dt><dd>x</dd><dd>y</dd><dt>B</dt><dd>z</dd><dt>A</dt><dd>w</dd>"
    )


def test_cases_that_are_not_judged_are_no_ends():
    far = cell("9", low=8.0, high=9.0, measured=8.5, unfit=SHORT)
    near = [cell("1", low=1.2, high=1.4, measured=1.3), cell("5", low=2.2, high=2.4, measured=2.3)]
    assert claims.ends(judged("inconclusive", far, *near)) == tuple(near)
    assert claims.ends(judged("inconclusive", far, near[0], low=1.0, high=9.0)) == (near[0], far)


def test_directions_are_beside_the_bound_of_the_claim():
    bound = Expectation("at-least", 100.0, 0.0)
    found = (
        cell("1", low=110.0, high=120.0, measured=115.0, expected=bound),
        cell("5", low=10.0, high=12.0, measured=11.0, expected=bound),
        cell("9", low=90.0, high=130.0, measured=105.0, expected=bound),
    )
    assert (
        "the ratio is clearly above 100 with batches of 1 and clearly below 100 with batches of 5"
        in claim.finding(RUN, judged("inconclusive", *found))
    )


def test_what_is_out_of_reach_gives_its_reason_and_no_direction():
    found = (
        cell(size, low=low, high=low * 1.1, measured=low, unfit=SHORT)
        for size, low in (("1", 0.1), ("9", 0.5))
    )
    why = because(
        "out-of-reach", setup="CnosDB 2.0.1", what="workers", factor=True, measured=12, unit=None, at_least=100,
        at_most=None, why="The text is about 100 workers.",
    )  # fmt: skip
    said = claim.finding(RUN, judged("out of reach here", *found, reasons=(why,)))
    assert said.startswith("Out of reach here. CnosDB 2.0.1 loaded ")
    assert said.endswith(
        " It cannot be tested here: number in flight of CnosDB 2.0.1 is 12, and at least 100 is needed: The text is "
        "about 100 workers."
    )
    assert "clearly" not in said
    several = because("cases-unmet", cases=2, of=2, because=why)
    assert claim.meaning(judged("out of reach here", reasons=(several,))).startswith(
        "2 of 2 cases cannot be tested here; the first of them: number in flight"
    )


def test_failures_of_a_compared_setup_are_not_in_other_setups(monkeypatch):
    """A metric that counts failures is judged with them, so that its cases have none of their own."""
    failed: set[str] = set()
    monkeypatch.setattr(conclusion.rules, "same_work", lambda _: SimpleNamespace(mark="partly", because=()))
    monkeypatch.setattr(conclusion.same_work, "of_run", lambda _: SimpleNamespace(flagged=set()))
    run: Any = SimpleNamespace(
        frame=lambda _: {"operations": SimpleNamespace(sum=lambda: 7)},
        checks={},
        failed=lambda cell, phase: 7 if (cell.system, phase) in failed else 0,
    )
    lead = judged(metric="rows_found")
    assert conclusion._checks(run, [lead])[2] == "7 failed operations, all in other setups"
    failed.add((OF, "load"))
    assert conclusion._checks(run, [lead])[1] == "passed, with exceptions"


def test_of_many_cases_on_one_side_only_the_number_is_said():
    many = [cell(str(size), low=1.2, high=1.4, measured=1.3) for size in range(2, 9)]
    one = judged("inconclusive", *many, cell("1", low=0.5, high=0.7, measured=0.6))
    said = "Of 8 cases (one per batch size), the ratio is clearly above 1 in 7 and clearly below 1 with batches of 1."
    assert said in claim.finding(RUN, one)


def test_a_publication_may_name_configurations_in_sentences(monkeypatch):
    one = cell()
    one.sides.cells = tuple(
        SimpleNamespace(system=OF, levels={"system": OF, "arm": arm, "batch_size": "1"}) for arm in ("a", "b")
    )
    one.sides.factors = ["arm"]
    monkeypatch.setattr(
        claim.Catalogue,
        "publication",
        lambda *_: Publication(title="P", claimed="It is.", configurations={"b": "a template"}),
    )
    assert (
        "CnosDB 2.0.1 with a template loaded 1.16 times as many rows per second as with configuration a"
        in (claim.sentence(RUN, judged("reproduced", one)))
    )


def test_a_named_configuration_of_one_system_is_said_beside_the_other(monkeypatch):
    one = cell()
    one.sides.cells = tuple(
        SimpleNamespace(system=system, arm=arm, levels={"system": system, "arm": arm})
        for system, arm in ((OVER, "plain"), (OF, "service"))
    )
    one.sides.factors = ["system", "arm"]
    monkeypatch.setattr(
        claim.Catalogue,
        "publication",
        lambda *_: Publication(title="P", claimed="It is.", configurations={"service": "a stand-in"}),
    )
    assert claim.sentence(RUN, judged("reproduced", one)).startswith(
        "CnosDB 2.0.1 with a stand-in loaded 1.16 times as many rows per second as InfluxDB 1.8.10 ("
    )


def test_an_open_verdict_says_that_no_case_confirms_the_claim():
    low = cell("1", low=0.4, high=0.6, measured=0.5, verdict="contradicted")
    high = cell("5000", low=0.9, high=1.1, measured=1.0, verdict="inconclusive")
    assert claim.finding(RUN, judged("inconclusive", low, high)).endswith(
        "None confirms the claim, and too few refute it."
    )
    other = cell("9000", low=1.1, high=1.3, measured=1.2, verdict="direction only")
    assert "None confirms" not in claim.finding(RUN, judged("inconclusive", low, high, other))


def test_the_cases_of_a_claim_are_a_list_in_words():
    three: Any = SimpleNamespace(cells=[cell(level) for level in ("1", "2", "10")])
    assert claim._case_names(three) == "batches of 1, batches of 2 and batches of 10"


def test_a_page_says_at_once_what_its_answers_rest_on(monkeypatch: pytest.MonkeyPatch) -> None:
    one = judged(runs=5, processors=3, expect=(0.9, 2.2))
    monkeypatch.setattr(conclusion, "strength", lambda *_: "3 trials of each setup, 2 cores")
    assert conclusion.how_sure(RUN, [one]) == (
        "5 runs on 3 processors. On another processor, expect this ratio to be 0.900-2.20. "
        "3 trials of each setup, 2 cores."
    )
    assert conclusion.how_sure(RUN, [one, one]).startswith(
        "5 runs on 3 processors. On another processor, expect the first ratio to be 0.900-2.20. "
    )
    cases = [
        SimpleNamespace(expect=lambda level, ends=ends: ends if level == 0.05 else None)
        for ends in ((0.5, 2.0), (0.25, 1.0))
    ]
    both = judged("reproduced", cell("1"), cell("2"), runs=5, processors=3, expect=None, by_case=cases)
    said = "On another processor, expect the ratios of this claim between 0.250 and 2.00."
    assert (
        conclusion.how_sure(RUN, [both]) == f"5 runs on 3 processors. {said} 3 trials of each setup, 2 cores."
    )
    unknown = judged(
        "reproduced", cell("1"), cell("2"), runs=5, processors=3, expect=None, by_case=[cases[0], None]
    )
    assert "another processor" not in conclusion.how_sure(RUN, [unknown])
    several = judged(runs=1, processors=1, expect=None)
    assert conclusion.how_sure(RUN, [several]) == "1 run on 1 processor. 3 trials of each setup, 2 cores."
