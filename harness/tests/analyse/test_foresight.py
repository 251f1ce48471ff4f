"""What runs foresee of each other, where the truth is known."""

from __future__ import annotations

import math
import random

import pytest

from benchbook.analyse import foresight
from benchbook.analyse.alike import Kind
from benchbook.analyse.model import Fit
from benchbook.analyse.processors import Between
from benchbook.analyse.replication import Case, Measured
from benchbook.declare.expectation import Expectation

ERROR = 0.03


def made(centres: list[list[float]], kind: Kind = "speed", experiment: str = "x", **options: object) -> Case:
    """Return a case with the log ratios of the runs of each processor."""
    found = [
        Measured(f"run-{processor}-{run}", processor, *[Fit(centre, ERROR, 9, 10, 0.1)] * 2)
        for processor, held in enumerate(centres)
        for run, centre in enumerate(held)
    ]
    return Case(experiment, kind, "load", "rows_per_second", ("a", "b"), tuple(found), **options)  # type: ignore[arg-type]


def simulated(tau: float, cases: int, processors: int, experiment: str = "x") -> list[Case]:
    chance = random.Random(5)
    return [
        made([[chance.gauss(0, math.hypot(tau, ERROR))] for _ in range(processors)], experiment=experiment)
        for _ in range(cases)
    ]


def test_each_processor_and_each_run_is_left_out_once():
    cases = [made([[0.1, 0.2], [0.3], [0.4]]), made([[0.1]])]
    by_processor = list(foresight.by_processor(cases))
    assert [len(one.left) for one in by_processor] == [2, 1, 1]
    assert [len(one.others) for one in by_processor] == [2, 2, 2]
    assert [one.left[0].run_id for one in foresight.by_run(cases)] == ["run-0-0", "run-0-1"]


@pytest.mark.parametrize("tau", [0.05, 0.2])
@pytest.mark.parametrize("processors", [2, 3])
def test_the_learned_prior_is_near_the_truth_and_95_percent_of_intervals_hold(
    tau: float, processors: int
) -> None:
    needs = foresight.needs(foresight.by_processor(simulated(tau, 400, processors)))
    prior = foresight.learned(needs)["speed"]
    # Student's t with 3 degrees of freedom is wider than the normal distribution of the truth.
    assert 0.4 * tau < prior.scale < 1.1 * tau
    others = simulated(tau, 400, processors)
    held = [foresight.agree(one.foreseen(prior), one.measured) for one in foresight.by_processor(others)]
    assert sum(held) / len(held) == pytest.approx(0.95, abs=0.02)


def test_a_prior_that_is_learned_without_an_experiment_does_not_know_it():
    cases = [*simulated(0.02, 100, 2, "calm"), *simulated(0.5, 100, 2, "wild")]
    needs = foresight.needs(foresight.by_processor(cases))
    assert (
        foresight.learned(needs, "wild")["speed"].scale
        < 0.1
        < foresight.learned(needs, "calm")["speed"].scale
    )


def test_a_class_with_few_comparisons_has_the_prior_of_all():
    few = [made([[0.0], [1.0]], "tail")]
    needs = foresight.needs(foresight.by_processor([*simulated(0.05, 100, 2), *few]))
    assert foresight.learned(needs)["tail"].scale < 0.2


def test_a_row_counts_what_holds_and_which_answers_agree():
    claim = Expectation("ratio", 2.0, 0.1)
    two, half = math.log(2), -math.log(2)
    cases = [
        made([[two], [two]], claim="c", expected=claim),
        made([[two], [half]], claim="c", expected=claim),
    ]
    rows = {one.group: one for one in foresight.rows(cases, [])}
    assert set(rows) == {"claims"}
    checks = [(one, Between(0.05), Between(0.05)) for one in foresight.by_processor(cases)]
    row = foresight.row("processor", "claims", "cases of claims", checks)
    assert (row.checks, row.holds_before, row.agrees_before, row.agrees_after) == (4, 0.5, 0.5, 0.5)
    assert (row.same_before, row.opposite_before, row.decided_before) == (0.5, 0.5, 1.0)
    assert row.factor_before < row.factor_after


def test_answers_without_a_claim_say_which_side_is_higher():
    case = made([[0.5], [0.0]])
    assert [case.answer(Fit(centre, ERROR, 9, 10, 0.1)) for centre in (0.5, 0.0, -0.5)] == [
        "higher", "inconclusive", "lower",
    ]  # fmt: skip
