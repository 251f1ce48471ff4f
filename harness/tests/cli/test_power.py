"""``bench plan`` and ``bench claims`` show the chance of each verdict."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import design, prospect
from benchbook.analyse.learned import priors
from benchbook.analyse.run import Run
from benchbook.cli.app import run
from benchbook.declare.catalogue import Catalogue
from benchbook.record import database
from tests.claims import measured_run

PAIR = "influx-local-vs-s3fs"
"""An experiment whose claims every profile can judge."""
WORDS = {"reproduced", "different size", "direction only", "contradicted", "inconclusive"}


@pytest.fixture(autouse=True)
def _every_system_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.provision.find.previews", lambda systems, asked: {})


def power(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return found["power"] if isinstance(found, dict) else found


def test_a_plan_without_an_earlier_run_takes_the_usual_spread_of_the_metric(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = power(capsys, "plan", PAIR, "--results", str(tmp_path))
    assert found
    for one in found:
        assert one["truth"] == "published"
        kind: Any = "tail" if one["claim"].endswith("p99") else "speed"
        assert one["spread"] == pytest.approx(math.expm1(prospect.SPREADS[kind]))
        assert set(one["chances"]) == WORDS
        assert sum(one["chances"].values()) == pytest.approx(1)
        assert sum(said["chance"] for said in one["answers"]) == pytest.approx(1)


def test_sizes_on_disk_hardly_vary_so_few_trials_decide_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", "sqlite-vs-filesystem", "--results", str(tmp_path), "--json"]) == 0
    printed = capsys.readouterr()
    found = {one["claim"]: one for one in json.loads(printed.out)["power"]}
    assert found["smaller-on-disk"]["spread"] == pytest.approx(math.expm1(prospect.SPREADS["size"]))
    assert found["smaller-on-disk"]["trials_needed"] <= 5
    assert found["reads-35-percent-faster"]["spread"] > 0.1
    assert run(["plan", "sqlite-vs-filesystem", "--results", str(tmp_path)]) == 0
    assert "smaller-on-disk gets an answer" not in capsys.readouterr().err


def test_more_trials_raise_the_chance_of_a_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few, many = (
        {one["claim"]: one["verdict"] for one in power(
            capsys, "plan", PAIR, "--trials", count, "--results", str(tmp_path)
        )}
        for count in ("3", "40")
    )  # fmt: skip
    assert sum(many.values()) > sum(few.values())


def test_a_low_chance_is_a_warning_that_says_what_would_help(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", PAIR, "--trials", "3", "--results", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert "The chance of each answer" in printed.out
    assert "gets an answer with a chance of" in printed.err


def test_a_plan_of_an_experiment_without_claims_shows_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", "quickstart", "--results", str(tmp_path)]) == 0
    assert "chance" not in capsys.readouterr().out
    assert power(capsys, "plan", "quickstart", "--results", str(tmp_path)) == []


def test_a_plan_has_chances_for_claims_about_levels_that_its_profile_replaces(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Profile seed has 12 workers in place of the 100 of this claim."""
    found = power(capsys, "plan", "cnos-vs-influx", "--profile", "seed", "--results", str(tmp_path))
    assert "ratios" in {one["claim"] for one in found}


def test_claims_show_the_power_of_another_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(2)
    measured_run.write(
        tmp_path, "one", {"system": ["cnosdb-2.0.1", "influxdb-1.8.10"], "workers": [100], "batch_size": [1000, 2500]},
        lambda levels, block: {("load", "rows_per_second"): 1000 * math.exp(chance.gauss(0, 0.1))},
        declared=measured_run.experiment("cnos-vs-influx"),
    )  # fmt: skip
    found = power(capsys, "claims", "one", "--power", "--results", str(tmp_path))
    assert found
    assert all(one["truth"] == "measured" and one["trials"] == 5 for one in found)
    assert run(["claims", "one", "--results", str(tmp_path)]) == 0
    assert "bench claims one --power" in capsys.readouterr().out


def test_a_plan_assumes_what_the_latest_run_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", PAIR, "--results", str(tmp_path), "--json"]) == 0
    trials = json.loads(capsys.readouterr().out)["trials"]
    factors: dict[str, list[Any]] = {}
    for name in trials[0]["levels"]:
        factors[name] = list(dict.fromkeys(one["levels"][name] for one in trials))
    chance = random.Random(2)
    declared = Catalogue().experiment(PAIR).model_dump(mode="json")
    measured_run.write(
        tmp_path, "one", factors,
        lambda levels, block: {("load", "rows_per_second"): 1000 * math.exp(chance.gauss(0, 0.05))},
        declared=declared, name=PAIR,
    )  # fmt: skip
    found = power(capsys, "plan", PAIR, "--results", str(tmp_path))
    assert {one["truth"] for one in found} == {"published", "measured"}
    assert all(one["spread"] < 0.15 for one in found if one["truth"] == "measured")
    assert all(one["ratio"] == pytest.approx(1, rel=0.2) for one in found if one["truth"] == "measured")
    with database.open(tmp_path) as connection:
        connection.execute("UPDATE runs SET finished_at = started_at + INTERVAL 30 MINUTE")
    assert run(["plan", PAIR, "--results", str(tmp_path), "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    trials = 5 * math.prod(map(len, factors.values()))
    assert design.session_seconds(Run(tmp_path, "one")) == pytest.approx(1800 - trials)  # each took a second
    block = plan["estimate_seconds"] / plan["trials_per_cell"]
    # The claim that needs most of them: tails vary more, also from processor to processor.
    needed = {
        one["claim"]: design.blocks(math.log1p(one["spread"]), priors()[kind].scale, block, 1800 - trials)
        for one in plan["power"]
        for kind in (["tail"] if one["claim"].endswith("p99") else ["speed"])
    }
    assert plan["blocks_of_session"] == max(needed.values())
    assert plan["blocks_of_session"] > 3
    assert run(["plan", PAIR, "--results", str(tmp_path)]) == 0
    assert f"{plan['blocks_of_session']} blocks in each of them" in capsys.readouterr().out


def test_before_a_first_run_no_number_of_blocks_suits_more_than_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", PAIR, "--results", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["blocks_of_session"] is None
