"""``bench claims``, ``compare`` and ``aa`` from the command line."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse.claims import Judgement
from benchbook.analyse.run import Run
from benchbook.cli.app import run
from benchbook.cli.claims import _numbers
from benchbook.declare.catalogue import Catalogue
from benchbook.plan.plan import Plan, plan
from benchbook.site.outcome import outcomes
from tests.claims import measured_run

CELLS = {"system": ["cnosdb-2.0.1", "influxdb-1.8.10"], "workers": [100], "batch_size": [1000, 2500]}


def write(results: Path, run_id: str, created: str, speed: float = 1.0, **factors: list[Any]) -> None:
    chance = random.Random(run_id)

    def value(levels: dict[str, Any], block: int) -> dict[tuple[str, str], float]:
        return {("load", "rows_per_second"): 1000 * speed * math.exp(chance.gauss(0, 0.01))}

    measured_run.write(
        results, run_id, {**CELLS, **factors}, value, created=created,
        declared=measured_run.experiment("cnos-vs-influx"),
    )  # fmt: skip


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write(tmp_path, "first", "2026-03-01T09:00:00+00:00")
    write(tmp_path, "second", "2026-03-02T09:00:00+00:00", 2.0)
    write(tmp_path, "itself", "2026-03-03T09:00:00+00:00", aa=["A", "B"])
    return tmp_path


def test_the_numbers_of_a_claim_are_named_as_what_they_are() -> None:
    """A question of ours has no published number, a bound is claimed, and a look has its own confidence."""
    shown = Judgement(
        "a", "A is faster", "a page", 1.2, 1.3, 1.2, 1.4, 0.1, "inconclusive", (), "load", "rows_per_second",
        "ratio",
    )  # fmt: skip
    assert _numbers(shown) == "published 1.20, measured 1.30 (95 % CI 1.20-1.40), margin 10 %"
    assert "measured 1.30 (99 % CI 1.20-1.40)" in _numbers(replace(shown, level=0.01))
    assert _numbers(replace(shown, test="at-least")).startswith("claimed ≥ 1.20, ")
    assert _numbers(replace(shown, own=True)).startswith("not published, ")
    assert _numbers(replace(shown, published=None)).startswith("published without a number, ")


@pytest.mark.parametrize("name", [[], ["latest"], ["second"], ["cnos-vs-influx"]])
def test_claims_as_json(results: Path, name: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["claims", *name, "--json", "--results", str(results)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in printed] == [
        "faster-in-most-cells", "every-cell", "influxdb-ahead-in-the-middle", "rises-with-batch-size", "values-a-row",
    ]  # fmt: skip
    wanted = [
        "id",
        "statement",
        "source",
        "published",
        "measured",
        "low",
        "high",
        "margin",
        "holds",
        "size",
        "verdict",
        "scope",
        "runs",
        "processors",
        "expect",
        "alone",
        "here",
        "cases",
        "reason",
        "reasons",
        "notes",
    ]
    assert all(list(row) == wanted for row in printed)
    cases = next(row["cases"] for row in printed if row["id"] == "every-cell")
    assert list(cases[0]) == [
        "levels",
        "published",
        "measured",
        "low",
        "high",
        "holds",
        "size",
        "trials",
        "unfit",
    ]
    assert len({tuple(case["levels"].items()) for case in cases}) == len(cases) > 1
    assert all(case["low"] < case["measured"] < case["high"] for case in cases)
    # The first run of the experiment does not count for the second, which every claim says beside its answer.
    assert all(row["notes"] == printed[0]["notes"] for row in printed)
    said = {row["id"]: (row["holds"], row["size"], row["verdict"]) for row in printed}
    # equal systems, where a difference was published
    assert said["every-cell"] == ("no difference", None, "contradicted")
    assert said["values-a-row"] == ("not comparable", None, "underspecified")


def test_claims_for_people_and_a_run_without_any(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["claims", "--results", str(results)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("second\n")
    assert "10 %" in out
    measured_run.write(
        results, "bare", {"system": ["duckdb"]}, lambda levels, block: {}, created="2026-04-01T00:00:00Z"
    )
    assert run(["claims", "--results", str(results)]) == 0
    assert capsys.readouterr().out == "bare declared no claims (docs/claims.md)\n"


def test_an_a_a_run_has_no_claims(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["claims", "itself", "--results", str(results)]) == 2
    assert "A/A run" in capsys.readouterr().err


def test_compare(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "first", "second", "--results", str(results)]) == 0
    out = capsys.readouterr().out
    assert "How the runs differ:" in out
    assert "faster" in out
    assert run(["compare", "first", "second", "--json", "--results", str(results)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {row["said"] for row in printed} == {"faster"}
    assert {"cell", "phase", "metric", "ratio", "low", "high", "effect", "said", "reason"} <= set(printed[0])


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["compare", "first", "first"], "cannot be compared with itself"),
        (["compare", "first", "nothing"], 'no run "nothing"'),
        (["compare", "first"], "'B'"),
        (["claims", "nothing"], 'no run "nothing"'),
        (["aa", "quickstrat"], "quickstart"),
        (["aa", "quickstart", "--profile", "smok"], "smoke"),
        (["aa", "quickstart", "--set", "aa=A,B"], 'no factor "aa"'),
    ],
)
def test_mistakes_are_told(
    results: Path, argv: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*argv, "--results", str(results)]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert "Traceback" not in err


def test_an_a_a_plan_has_every_cell_twice_and_reads_back() -> None:
    once = plan(Catalogue(), "quickstart", "smoke", trials=4, order_seed=1)
    made = plan(Catalogue(), "quickstart", "smoke", trials=4, order_seed=1, against_itself=True)
    assert made.against_itself
    assert not once.against_itself
    assert len(made.trials) == 2 * len(once.trials)
    assert {cell.rpartition(",")[0] for cell in made.cells()} == set(once.cells())
    for block in range(4):
        labels = [trial.levels["aa"] for trial in made.trials if trial.block == block]
        assert labels.count("A") == labels.count("B") == len(once.cells())
    assert Plan.parse(json.loads(made.text())) == made


def test_claims_of_a_run_without_any_shows_its_comparisons(
    plain: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["claims", "--results", str(plain.results)]) == 0
    out = capsys.readouterr().out
    head, _, rest = out.partition("\n")
    assert head == f"{plain.run_id} declared no claims (docs/claims.md); its comparisons:"
    assert "verdict" in rest
    assert "times as good (95 % CI)" in rest
    shown = outcomes(plain)
    assert shown
    assert all(one.ratio() in rest for one in shown)
