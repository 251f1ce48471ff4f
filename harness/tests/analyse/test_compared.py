"""Two runs compared: what differs is said first, different work is refused, and noise is called noise."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import two_runs
from benchbook.analyse.model import Noise
from benchbook.analyse.ratio import unpaired
from benchbook.analyse.reason import because
from benchbook.analyse.two_runs import TwoRuns, compare
from benchbook.errors import RequestError
from tests.claims import measured_run

SYSTEM = "cnosdb-2.4"
RATE, LATENCY = ("load", "rows_per_second"), ("load", "latency_p50")


def write(results: Path, run_id: str, speed: float = 1.0, *, noise: float = 0.01, **options: Any) -> str:
    chance = random.Random(run_id)
    factors = options.pop("factors", {"system": [SYSTEM], "batch_size": [1000, 5000]})

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {
            RATE: 1000 * speed * math.exp(chance.gauss(0, noise)),
            LATENCY: 0.01 / speed * math.exp(chance.gauss(0, noise)),
        }

    return measured_run.write(results, run_id, factors, value, **options)


def two(tmp_path: Path, speed: float, *, across: bool = False, a: Any = None, **b: Any) -> TwoRuns:
    write(tmp_path, "a", **(a or {}))
    write(tmp_path, "b", speed, **b)
    return compare(tmp_path, "a", "b", across=across)


@pytest.mark.parametrize(("speed", "said"), [(2.5, "faster"), (0.4, "slower")])
def test_b_over_a_with_its_interval(tmp_path: Path, speed: float, said: str) -> None:
    found = two(tmp_path, speed)
    assert {change.said for change in found.changes} == {said}
    assert len(found.changes) == 4
    for change in found.changes:
        expected = speed if change.metric == "rows_per_second" else 1 / speed
        assert change.low is not None
        assert change.high is not None
        assert change.low < expected < change.high
        assert change.effect is not None
        assert (change.effect > 0) == (expected > 1)
        assert change.noise is None
    assert "not interleaved" in found.notes[0]


def test_equal_runs_differ_in_nothing(tmp_path: Path) -> None:
    found = two(tmp_path, 1.0)
    assert found.differences == ()
    assert {change.said for change in found.changes} == {"no difference can be claimed"}


@pytest.mark.parametrize("drift", [1.2, 0.8])
def test_equal_runs_of_a_machine_that_drifted_differ_in_nothing(tmp_path: Path, drift: float) -> None:
    """Each run's trials agree within 1 %, and the machine was 20 % faster or slower in the other hour."""
    found = two(tmp_path, drift)
    assert {change.said for change in found.changes} == {"no difference can be claimed"}
    for change in found.changes:
        assert change.low is not None
        assert change.high is not None
        assert change.low < 1 < change.high


def test_many_comparisons_of_noise_seldom_claim_any(tmp_path: Path) -> None:
    alarms = 0
    factors = {"system": [SYSTEM], "batch_size": list(range(1, 21))}
    for place in range(12):
        write(tmp_path, f"a{place}", factors=factors, blocks=4, database=False)
    measured_run.write(tmp_path, "last", {"system": [SYSTEM]}, lambda levels, block: {RATE: 1.0})
    for place in range(0, 12, 2):
        found = compare(tmp_path, f"a{place}", f"a{place + 1}")
        assert len(found.changes) == 40
        alarms += any(change.said != "no difference can be claimed" for change in found.changes)
    assert alarms <= 1


def test_what_differs_is_said_in_words(tmp_path: Path) -> None:
    found = two(
        tmp_path, 1.0,
        host={"cpu": {"usable_cores": 16, "model": "Other"}, "load": {"load1": 3.0}},
        programs={SYSTEM: {"version": "2.4.3"}}, profile="published",
    )  # fmt: skip
    said = {(one.group, one.what): (one.a, one.b) for one in found.differences}
    assert said["machine", "cpu usable cores"] == ("2", "16")
    assert said["machine", "cpu model"] == ("Synthetic", "Other")
    assert said["systems", f"version of {SYSTEM}"] == ("none", "2.4.3")
    assert said["experiment", "profile"] == ("quick", "published")
    assert not any("load" in what for _, what in said)
    assert any("machines or their settings differ" in note for note in found.notes)


@pytest.mark.parametrize(
    ("digest", "group"),
    [("dataset_digest", "data"), ("queries_digest", "queries"), ("config_digest", "configuration")],
)
def test_different_work_is_refused_without_across(tmp_path: Path, digest: str, group: str) -> None:
    changed = {"changes": lambda levels: {digest: "sha256:" + "ab" * 32}}
    with pytest.raises(RequestError, match="did different work") as caught:
        two(tmp_path, 1.0, **changed)
    assert "--across" in str(caught.value)
    found = compare(tmp_path, "a", "b", across=True)
    assert {one.group for one in found.differences} >= {group}
    assert found.mixed == (group,)
    assert any(f"compares them anyway: {group}" in note for note in found.notes)


def test_two_versions_are_compared_cell_by_cell(tmp_path: Path) -> None:
    other = {"system": ["cnosdb-2.0.1"], "batch_size": [1000, 5000]}
    found = two(tmp_path, 2.0, factors=other, changes=lambda levels: {"config_digest": "c-cnosdb-2.4"})
    assert len(found.changes) == 4
    assert "→" in found.changes[0].cell
    assert any(one.what == "system" for one in found.differences)


def test_different_answers_judge_nothing(tmp_path: Path) -> None:
    def answers(value: float) -> Any:
        return lambda levels: [
            {"v": 1, "type": "answer", "phase": "answers", "query_type": "q", "id": "q-1",
             "digest": f"{value}", "columns": ["time_ns", "max"], "row_count": 1, "rows": [[1, value]]}
        ]  # fmt: skip

    found = two(tmp_path, 2.0, a={"answers": answers(1.0)}, answers=answers(2.0))
    assert {change.said for change in found.changes} == {"not judged"}
    assert any("answered" in note for note in found.notes)


def test_failures_and_few_trials_judge_nothing(tmp_path: Path) -> None:
    failed = [{"phase": "load", "kind": "refused", "operations": 1, "rows": 1}]
    found = two(tmp_path, 2.0, errors=lambda levels, block: failed if levels["batch_size"] == 1000 else [])
    said = {change.cell: change.said for change in found.changes}
    assert said == {
        f"system={SYSTEM},batch_size=1000": "not judged",
        f"system={SYSTEM},batch_size=5000": "faster",
    }
    write(tmp_path, "c", 2.0, blocks=2)
    few = compare(tmp_path, "a", "c")
    assert {change.said for change in few.changes} == {"not judged"}
    assert any("fewer than 3" in note for note in few.notes)


@pytest.mark.parametrize("shorter", ["a", "b"])
def test_a_phase_under_a_second_in_either_run_judges_nothing(tmp_path: Path, shorter: str) -> None:
    lasted = {run: {"seconds": lambda levels, block, run=run: 0.2 if run == shorter else 5.0} for run in "ab"}
    found = two(tmp_path, 2.5, a=lasted["a"], **lasted["b"])
    short = because("short-phase", phase="load", seconds=0.2, least=1.0)
    assert {(change.said, change.reasons) for change in found.changes} == {("not judged", (short,))}
    assert all(change.ratio is not None for change in found.changes)


def test_what_cannot_be_compared_is_one_sentence(tmp_path: Path) -> None:
    write(tmp_path, "a")
    write(tmp_path, "b", factors={"system": [SYSTEM], "batch_size": [1]})
    with pytest.raises(RequestError, match="itself"):
        compare(tmp_path, "a", "a")
    with pytest.raises(RequestError, match="no cell in common") as refused:
        compare(tmp_path, "a", "b")
    assert f"the second has system={SYSTEM},batch_size=1." in str(refused.value.hint)
    assert "batch_size is 1000 and 5000 in the first and 1 in the second." in str(refused.value)
    write(tmp_path, "d", factors={"system": [SYSTEM]})
    for names, place in (("ad", "first"), ("da", "second")):
        with pytest.raises(
            RequestError, match=rf"only the {place} has the factor batch_size \(1000 and 5000\)"
        ):
            compare(tmp_path, *names)
    with pytest.raises(RequestError, match='There is no run "c"'):
        compare(tmp_path, "a", "c")


def test_the_noise_floor_is_used(tmp_path: Path) -> None:
    chance = random.Random(3)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        apart = 1.0 if levels["aa"] == "A" else 0.0
        return {pair: math.exp(chance.gauss(0, 0.01) + apart) for pair in (RATE, LATENCY)}

    factors = {"system": [SYSTEM], "batch_size": [1000, 5000], "aa": ["A", "B"]}
    measured_run.write(tmp_path, "aa", factors, value, database=False)
    alone = two(tmp_path / "alone", 2.5)
    assert {change.said for change in alone.changes} == {"faster"}
    found = two(tmp_path, 2.5)
    assert {change.said for change in found.changes} == {"no difference can be claimed"}
    assert all(change.noise and change.noise > 1.2 for change in found.changes)


@pytest.mark.parametrize("noisy", ["a", "b"])
def test_the_larger_noise_of_the_two_runs_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noisy: str
) -> None:
    quiet, loud = Noise(0.01**2, 5), Noise(0.5**2, 5)
    monkeypatch.setattr(two_runs.noise, "of", lambda run, *_: loud if run.run_id == noisy else quiet)
    assert {change.noise for change in two(tmp_path, 2.5).changes} == {loud.factor}


@pytest.mark.parametrize(("deviation", "kept"), [(0.0, 0.14), (0.05, 0.14), (0.3, 0.3)])
def test_noise_between_equal_setups_does_not_hide_what_equal_runs_differ_by(
    deviation: float, kept: float
) -> None:
    found = two_runs.between_runs("rows_per_second", Noise(deviation**2, 5))
    assert found is not None
    assert math.sqrt(found.variance) == pytest.approx(kept)


def test_welch_without_numbers() -> None:
    assert unpaired([], [1.0]).ratio.reason == because("no-values")
    assert unpaired([1.0, 2.0], [1.0, 2.0, 3.0]).ratio.reason == because("few-values", trials=2, least=3)
    assert unpaired([0.0, 1.0, 2.0], [1.0, 2.0, 3.0]).ratio.reason is not None
    same = unpaired([2.0] * 3, [4.0] * 3)
    assert (same.ratio.low, same.ratio.high, same.ratio.differs) == (2.0, 2.0, 0.0)
