"""The estimate over processors against truth that is known, as the tables of docs/methods.md, with fewer studies."""

from __future__ import annotations

import pytest

from benchmarks import sessions

SIMULATIONS = 800
PROCESSORS = ("1", "1, 3 runs", "2", "3", "5")


@pytest.mark.parametrize("design", PROCESSORS)
def test_intervals_hold_the_mean_and_another_processor_if_processors_differ_as_the_prior_says(design: str):
    found = sessions.simulated(sessions.DRAWN, design, SIMULATIONS)
    assert 0.92 <= found.mean <= 0.98
    assert 0.92 <= found.another <= 0.98
    assert found.opposite <= 0.015


@pytest.mark.parametrize("kind", ["0 %", "5 %", "10 %"])
@pytest.mark.parametrize("design", ["1", "3"])
def test_processors_that_differ_less_are_held_more_often(kind: str, design: str):
    found = sessions.simulated(kind, design, SIMULATIONS)
    assert min(found.mean, found.another) >= 0.95
    assert found.opposite <= 0.005


def test_one_run_holds_for_its_processor_alone():
    assert sessions.simulated("0 %", sessions.ALONE, SIMULATIONS).mean >= 0.87
    assert sessions.simulated("10 %", sessions.ALONE, SIMULATIONS).another <= 0.5


def test_more_processors_decide_more():
    decided = [
        sessions.simulated(sessions.DRAWN, design, SIMULATIONS).decided for design in ("1", "2", "3", "5")
    ]
    assert decided == sorted(decided)
