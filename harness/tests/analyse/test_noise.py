"""The noise between equal setups: from A/A runs of the same experiment, profile, machine and data."""

from __future__ import annotations

import contextlib
import math
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims, noise
from benchbook.analyse.model import Noise
from benchbook.analyse.run import Run
from benchbook.errors import RequestError
from benchbook.record import export, manifest, opened
from benchbook.report import conclusion, limits
from benchbook.report.reasons import sentence
from tests.claims import measured_run

PAIR = ("load", "rows_per_second")
A, B = "cnosdb-2.0.1", "influxdb-1.8.10"
CLAIM = {
    "id": "faster", "statement": "A is faster", "source": "a page", "test": "at-least", "phase": "load",
    "metric": "rows_per_second", "of": {"system": A}, "over": {"system": B}, "published": {"ratio": 1},
}  # fmt: skip

DECLARED = measured_run.experiment("cnos-vs-influx", claims=[CLAIM])


def aa(
    results: Path,
    run_id: str,
    spread: float,
    *,
    apart: float = 0.0,
    systems: tuple[str, ...] = (A, B),
    **options: Any,
) -> None:
    """Write an A/A run; ``apart``: the log ratio of its equal setups."""
    chance = random.Random(run_id)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        rate = 1000 * math.exp(chance.gauss(0, spread) + (apart if levels["aa"] == "A" else 0))
        return {PAIR: rate}

    measured_run.write(results, run_id, {"system": list(systems), "aa": ["A", "B"]}, value, **options)


def run(results: Path, ratio: float, **options: Any) -> claims.Judgement:
    chance = random.Random(1)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {PAIR: (ratio if levels["system"] == A else 1.0) * math.exp(chance.gauss(0, 0.002))}

    measured_run.write(results, "run-1", {"system": [A, B]}, value, declared=DECLARED, **options)
    [found] = claims.judge_run(results, "run-1", measured_run.PUBLISHED)
    return found


def test_an_a_a_run_compares_each_cell_with_itself(tmp_path: Path) -> None:
    aa(tmp_path, "aa-1", 0.05, blocks=8)
    found = noise.measured(Run(tmp_path, "aa-1"))
    assert len(found) == 2
    for one in found:
        assert one.factor is not None
        assert one.ratio.low is not None
        assert one.ratio.high is not None
        assert one.factor == max(one.ratio.high, 1 / one.ratio.low)
        assert 1.0 < one.factor < 1.25
        assert (one.phase, one.metric, one.cell) == (*PAIR, f"system={one.system}")
    assert {row["trials"] for row in noise.rows(found)} == {8}


@pytest.mark.parametrize(
    ("spread", "apart", "words"),
    [
        (
            0.05,
            0.0,
            "none has a 95 % CI without 1 (5 % are expected by chance). No number differs by more than chance.",
        ),
        (
            0.002,
            0.1,
            "2 have a 95 % CI without 1 (5 % are expected by chance). Beyond the scatter of their trials, two",
        ),
    ],
)
def test_the_page_of_an_a_a_run_says_whether_equal_setups_differ(tmp_path, spread, apart, words) -> None:
    """Without it, the page would compare label A of one system with label B of another."""
    aa(tmp_path, "aa-2", spread, apart=apart, declared=DECLARED)
    said = _said(tmp_path)
    assert said.startswith(f"{A} and {B} were compared with themselves: every setup ran twice")
    assert f"Of 2 ratios of equal setups, {words}" in said


def test_the_page_of_an_a_a_run_counts_no_earlier_one(tmp_path: Path) -> None:
    aa(tmp_path, "aa-1", 0.002, apart=0.1)
    aa(tmp_path, "aa-2", 0.05, declared=DECLARED)
    assert "none has a 95 % CI without 1" in _said(tmp_path)


def test_the_number_that_differs_most_is_named() -> None:
    quiet, loud = Noise(0.0, 2, ("aa",), 2, 0), Noise(0.01, 2, ("aa",), 2, 2)
    counted, beyond = limits._differ({PAIR: quiet, ("read", "rows_per_second"): loud})
    assert "Of 4 ratios" in counted
    assert ", read)" in beyond


def _said(results: Path) -> str:
    return conclusion.answer_sentence(Run(results, "aa-2")).markdown.replace("\xa0", " ")


def test_noise_between_equal_setups_widens_the_interval_of_a_claim(tmp_path: Path) -> None:
    """Trials of the A/A run agree within 0.2 %, and its equal setups differ by 10 %."""
    assert run(tmp_path / "without", 1.03).verdict == "reproduced"
    assert "the noise between equal setups is unknown" in sentence(run(tmp_path / "unknown", 1.03).reasons)
    aa(tmp_path / "with", "aa-1", 0.002, apart=0.1)
    found = run(tmp_path / "with", 1.03)
    assert found.verdict == "inconclusive"
    assert "includes 1" in sentence(found.reasons)
    assert "noise between equal setups: " in sentence(found.reasons)
    aa(tmp_path / "far", "aa-1", 0.002, apart=0.1)
    assert run(tmp_path / "far", 4.0).verdict == "reproduced"


def test_noise_between_equal_setups_widens_the_typical_ratio_of_several_cases_too(tmp_path: Path) -> None:
    """Two cases of 3 % each, whose trials agree within 0.2 %: the noise between equal setups is 10 %."""
    declared = measured_run.experiment("cnos-vs-influx", claims=[{**CLAIM, "in_cells": "all"}])
    chance = random.Random(2)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {PAIR: (1.03 if levels["system"] == A else 1.0) * math.exp(chance.gauss(0, 0.002))}

    widths = []
    for place in ("without", "with"):
        factors = {"system": [A, B], "batch_size": [1000, 5000]}
        if place == "with":
            aa(tmp_path / place, "aa-1", 0.002, apart=0.1)
        measured_run.write(tmp_path / place, "run-1", factors, value, declared=declared)
        [found] = claims.judge_run(tmp_path / place, "run-1", measured_run.PUBLISHED)
        assert len(found.cells) == 2
        assert found.measured == pytest.approx(1.03, rel=0.005)
        widths.append(math.log(found.high / found.low))
    assert widths[0] < 0.02
    assert widths[1] == pytest.approx(2 * 4.3 * 0.1, rel=0.05)  # Student's t with two comparisons


def test_a_difference_that_chance_explains_widens_nothing(tmp_path: Path) -> None:
    """The A/A run's sides differ by 1 %, and its trials by 5 %: its estimate is above zero, and shows nothing."""
    aa(tmp_path, "aa-2", 0.05, apart=0.01)
    found = run(tmp_path, 1.03)
    known = _known(Run(tmp_path, "run-1"))
    estimated = noise.between(noise.measured(Run(tmp_path, "aa-2")), level=1.0)
    assert estimated is not None
    assert estimated.variance > 0
    assert (known.variance, known.factor, known.comparisons) == (0.0, 1.0, 2)
    assert found.verdict == "reproduced"
    assert "equal setups" not in sentence(found.reasons)


def test_noise_that_the_trials_explain_is_not_added_twice(tmp_path: Path) -> None:
    aa(tmp_path, "aa-1", 0.05, blocks=40)
    known = _known(_run(tmp_path))
    assert known.factor < 1.04  # 5 % of each trial


def test_a_contradiction_needs_more_than_the_noise(tmp_path: Path) -> None:
    assert run(tmp_path / "without", 0.97).verdict == "contradicted"
    aa(tmp_path / "with", "aa-1", 0.002, apart=0.1)
    assert run(tmp_path / "with", 0.97).verdict == "inconclusive"


def _known(run: Run) -> Any:
    """Return the noise of the ratio of A to B."""
    known = noise.of(run, PAIR, A, B)
    assert known is not None
    return known


def test_a_system_has_its_own_noise(tmp_path: Path) -> None:
    """A's equal setups differ by 10 %, B's by chance alone: only ratios with A are wider for it."""
    chance = random.Random("both")

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        apart = 0.1 if levels["system"] == A and levels["aa"] == "A" else 0.0
        return {PAIR: 1000 * math.exp(chance.gauss(0, 0.002) + apart)}

    measured_run.write(tmp_path, "aa-1", {"system": [A, B], "aa": ["A", "B"]}, value)
    measured = _run(tmp_path)
    alone, both, other, none = (
        noise.of(measured, PAIR, *sides) for sides in ((A, A), (A, B), (B, B), ("another", "another"))
    )
    assert alone is not None
    assert both is not None
    assert other is not None
    assert alone.variance == pytest.approx(0.1**2, rel=0.1)
    assert both.variance == pytest.approx(alone.variance / 2, rel=0.1)
    assert noise.of(measured, PAIR, B, A) == both == none
    assert other.variance == 0
    assert noise.of(measured, ("load", "latency_p50"), A, B) is None


def _run(results: Path) -> Run:
    run(results, 1.03)
    return Run(results, "run-1")


@pytest.mark.parametrize(
    "options",
    [
        {"profile": "published"},
        {"name": "another"},
        {"changes": lambda levels: {"dataset_digest": "other"}},
        {"host": {"cpu": {"model": "not readable: x"}}},
        {"host": {"cpu": {"model": "another processor"}}},
        {"host": {"cpu": {"model": "Synthetic", "usable_cores": 4}}},
    ],
)
def test_a_floor_of_something_else_is_not_used(tmp_path: Path, options: dict[str, Any]) -> None:
    aa(tmp_path, "aa-1", 0.2, **options)
    found = run(tmp_path, 1.03)
    assert found.verdict == "reproduced"
    assert "unknown" in sentence(found.reasons)


def test_a_floor_of_another_machine_with_the_same_processor_is_used(tmp_path: Path) -> None:
    aa(tmp_path, "aa-1", 0.2, host={"machine": {"id": "ffffffffffffffff"}})
    assert "noise-unknown" not in {one.code for one in run(tmp_path, 1.03).reasons}


def test_processors_of_one_name_that_differ_in_their_caches_are_not_one(tmp_path: Path) -> None:
    """Hypervisors call several processors "AMD EPYC"."""
    small, large = ({"level": 1, "type": "Data", "size": size} for size in ("32K", "48K"))
    epyc = {"model": "AMD EPYC", "flags_count": 105}
    aa(tmp_path, "aa-1", 0.2, host={"cpu": {**epyc, "caches": [small]}})
    found = run(tmp_path, 1.03, host={"cpu": {**epyc, "caches": [large]}})
    assert "noise-unknown" in {one.code for one in found.reasons}


def test_all_a_a_runs_count_together(tmp_path: Path) -> None:
    for place, apart in enumerate((0.1, -0.2, 0.15)):
        aa(tmp_path, f"aa-{place}", 0.002, apart=apart, database=False)
    known = _known(_run(tmp_path))
    assert known.runs == ("aa-0", "aa-1", "aa-2")
    assert known.comparisons == 6
    assert known.variance == pytest.approx((0.1**2 + 0.2**2 + 0.15**2) / 3, rel=0.1)


def test_two_blocks_give_no_noise(tmp_path: Path) -> None:
    aa(tmp_path, "aa-1", 0.05, blocks=2)
    assert {one.factor for one in noise.measured(Run(tmp_path, "aa-1"))} == {None}
    assert "unknown" in sentence(run(tmp_path, 1.03).reasons)


def test_an_a_a_run_judges_no_claims(tmp_path: Path) -> None:
    aa(tmp_path, "aa-1", 0.05, declared=measured_run.experiment("cnos-vs-influx", claims=[CLAIM]))
    with pytest.raises(RequestError, match="is an A/A run"):
        claims.judge_run(tmp_path, "aa-1", measured_run.PUBLISHED)


@pytest.mark.parametrize("own", [True, False])
def test_an_imported_a_a_run_changes_no_verdict(tmp_path: Path, own: bool) -> None:
    """Whoever knows the published processor of a machine can claim it, beside own and imported runs alike."""
    alone = run(tmp_path / "alone", 0.97, blocks=8, own=own)
    assert alone.verdict == "contradicted"
    aa(tmp_path / "beside", "aa-sent", 0.01, apart=3.0, blocks=8, own=False)
    found = run(tmp_path / "beside", 0.97, blocks=8, own=own)
    assert (found.verdict, found.reasons) == (alone.verdict, alone.reasons)


def test_without_the_key_own_runs_count_as_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    aa(tmp_path, "aa-mine", 0.002, apart=0.1, database=False)
    aa(tmp_path, "aa-sent", 0.01, apart=3.0, database=False, own=False)
    run(tmp_path, 0.97)
    assert _known(Run(tmp_path, "run-1")).runs == ("aa-mine",)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "no-key"))
    assert noise.of(Run(tmp_path, "run-1"), PAIR, A, B) is None


def _published(where: Path, name: str, machine: str | None) -> Path:
    """Export a run of ``where`` as the project or a contributor publishes it, to a folder of its own."""
    drawn = [("server", "cpu_seconds")]
    return export.publish_run(where / "results", name, where / f"from-{name}", drawn, machine=machine)


@pytest.mark.parametrize(
    ("sent_by", "folder_name", "counts"),
    [
        (None, "cnos-vs-influx", True),
        ("lab-epyc-64", "cnos-vs-influx", False),
        (None, "downloads", False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("together", [False, True])
def test_beside_a_published_run_only_a_a_runs_of_its_machine_in_its_ledger_count(
    tmp_path: Path, sent_by: str | None, folder_name: str, counts: bool, together: bool
) -> None:
    """One whose labels differ by a factor of 20 made a contradicted claim inconclusive."""
    run(tmp_path / "results", 0.97, blocks=8)
    aa(tmp_path / "results", "aa-sent", 0.01, apart=3.0, blocks=8)
    place = tmp_path / folder_name
    place.mkdir()
    for name, machine in (("run-1", None), ("aa-sent", sent_by)):
        shutil.move(_published(tmp_path, name, machine), place / name)
    with contextlib.ExitStack() as held:
        if together:
            exports = [manifest.checked(place / name) for name in ("run-1", "aa-sent")]
            results = opened.results_of(exports, tmp_path / "site")
        else:
            results = held.enter_context(opened.opened(tmp_path, str(place / "run-1"))).results
        assert bool(noise.known(Run(results, "run-1"))) == counts
        [found] = claims.judge_run(results, "run-1", measured_run.PUBLISHED)
        assert found.verdict == ("inconclusive" if counts else "contradicted")
