"""Verdicts of a report include the machine's noise, and are one family of tests."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

from benchbook.analyse import comparison, ratio, rules
from benchbook.analyse.run import Run, open_run
from benchbook.record import database
from benchbook.report import conclusion
from tests.claims import measured_run

PAIR = ("load", "rows_per_second")
A, B = "influxdb-1.8.10", "cnosdb-2.0.1"
LOADED: Any = {"seconds": lambda levels, block: 5.0}


def opened(results: Path, factor: float, aa_spread: float | None, systems: tuple[str, ...] = (A, B)) -> Run:
    chance = random.Random(1)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {PAIR: (factor if levels["system"] == B else 1.0) * math.exp(chance.gauss(0, 0.004))}

    def noise(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        apart = (aa_spread or 0) if levels["aa"] == "A" else 0.0
        return {PAIR: 1000 * math.exp(chance.gauss(0, 0.004) + apart)}

    if aa_spread is not None:
        measured_run.write(
            results, "aa-1", {"system": list(systems), "aa": ["A", "B"]}, noise, **LOADED, blocks=8
        )
    measured_run.write(results, "run-1", {"system": list(systems)}, value, **LOADED)
    database.rebuild(results)
    return open_run(results, "run-1")


def only(run: Run) -> comparison.Versus:
    base = comparison.baseline(run)
    assert base is not None
    [found] = comparison.against(run, *PAIR, base)
    return found


def test_a_difference_within_the_noise_floor_is_not_claimed(tmp_path: Path) -> None:
    assert only(opened(tmp_path / "unknown", 1.03, None)).verdict().winner is not None
    found = only(opened(tmp_path / "noisy", 1.03, 0.06))
    assert found.noise is not None
    assert found.verdict().winner is None
    assert found.verdict().reason.code == "compared-includes-1"
    assert only(opened(tmp_path / "far", 1.6, 0.06)).verdict().winner is not None


def test_the_limits_and_the_mark_of_the_rule_say_whether_the_floor_is_known(tmp_path: Path) -> None:
    without, known = opened(tmp_path / "without", 1.03, None), opened(tmp_path / "known", 1.03, 0.06)
    assert "is unknown" in conclusion.limits(without).markdown
    assert rules.noise(without).mark == "not kept"
    assert "two equal setups on this processor differ by up to" in conclusion.limits(known).markdown
    assert "Of 2 ratios of equal setups, 2 have a 95\xa0% CI without 1" in conclusion.limits(known).markdown
    assert rules.noise(known).mark == "kept"
    calm = conclusion.limits(opened(tmp_path / "calm", 1.03, 0.0)).markdown
    assert "Of 2 ratios of equal setups, none has a 95\xa0% CI without 1" in calm
    assert "no interval is wider for it" in calm


def test_many_comparisons_of_nothing_seldom_cry_wolf_together() -> None:
    """Twenty comparisons of equal things: alone one of them often looks different, jointly none may."""
    from dataclasses import replace

    chance, alone, together, rounds = random.Random(7), 0, 0, 60
    with_tmp = _pair()
    for _ in range(rounds):
        pairs = [replace(with_tmp, **_drawn(chance)) for _ in range(20)]
        alone += any(pair.verdict().winner for pair in pairs)
        together += any(one.winner for one in comparison.verdicts(pairs))
    assert alone > rounds / 3
    assert together <= rounds * 0.12


def test_the_comparisons_of_all_phases_are_one_family(tmp_path: Path) -> None:
    """Three phases with p = 0.02 each: alone each has a winner, and together none has (0.02 x 3 > 0.05)."""
    phases, step = ["load", "load-2", "load-3"], 0.02

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        faster = 7 * step / math.sqrt(3) + step * (block - 1) if levels["system"] == B else 0.0
        return {(phase, PAIR[1]): 1000 * math.exp(faster) for phase in phases}

    ran = [
        {"phase": phase, "workload": "load", "position": place, "started_seconds": 5.0 * place,
         "duration_seconds": 5.0, "timed": True}
        for place, phase in enumerate(phases)
    ]  # fmt: skip
    measured_run.write(
        tmp_path, "run-1", {"system": [A, B]}, value, blocks=3, changes=lambda levels: {"phases": ran}
    )
    found = comparison.judged(open_run(tmp_path, "run-1"))
    assert [one.pair.above.phase for one in found] == phases
    assert [round(one.pair.ratio.differs, 2) for one in found] == [0.02] * 3
    assert all(one.pair.verdict().winner for one in found)
    assert [one.word for one in found] == [comparison.UNDECIDED] * 3


def _pair() -> comparison.Versus:
    import inspect

    from benchbook.analyse.comparison import Estimate
    from benchbook.analyse.values import Cell

    fields = dict.fromkeys(inspect.signature(Cell).parameters)
    cell = Cell(**{**fields, "name": "a", "title": "A", "varying": (), "system": "a"})
    estimate = Estimate(cell, *PAIR, "1/s", "higher", (), 1.0, None, None)
    return comparison.Versus(estimate, estimate, ratio.ratio({0: 1.0}, {0: 1.0}), 0)


def _drawn(chance: random.Random) -> dict[str, Any]:
    from dataclasses import replace

    from benchbook.analyse.comparison import Point

    def side() -> Any:
        points = tuple(
            Point(trial_id="", block=block, position=0, value=math.exp(chance.gauss(0, 0.05)))
            for block in range(5)
        )
        return replace(_pair().above, points=points)

    above, below = side(), side()
    return {"above": above, "below": below, "ratio": ratio.ratio(above.by_block, below.by_block)}


def test_equal_systems_have_a_winner_in_few_runs(tmp_path: Path) -> None:
    """22 equal systems, and each metric is another draw: against a declared baseline 5 % of runs have a winner."""
    systems, draws, chance = [f"system-{number:02}" for number in range(22)], 240, random.Random(5)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {("load", f"rate_{draw}_per_second"): math.exp(chance.gauss(0, 0.1)) for draw in range(draws)}

    measured_run.write(
        tmp_path,
        "run-1",
        {"system": systems[::-1]},
        value,
        declared={"factors": {"system": systems}},
        blocks=5,
    )
    run = open_run(tmp_path, "run-1")
    with run.connected():
        base = comparison.baseline(run)
        assert base is not None
        assert base.system == systems[0]
        alarms = 0
        for draw in range(draws):
            found = comparison.against(run, "load", f"rate_{draw}_per_second", base)
            assert len(found) == 21
            alarms += any(one.winner for one in comparison.verdicts(found))
    assert alarms <= 0.08 * draws  # the slowest as the baseline has 14 %
