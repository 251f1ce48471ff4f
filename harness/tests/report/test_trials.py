"""The page of a run's trials: every trial with its facts, checks and numbers; small enough, and safe."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from benchbook.analyse.run import Run
from benchbook.report import links, trials
from benchbook.report.charts import marks, strip
from tests.record import synthetic_run
from tests.report.parsed import Page


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    results = tmp_path_factory.mktemp("trials")
    made = synthetic_run.write(results, systems=("sqlite", "duckdb"), database=True, telemetry_seconds=4)
    return Run(results, made)


def rendered(run: Run) -> Page:
    folder = run.results / "runs" / run.run_id
    return Page(trials.render(run, folder, folder.parent, "", None))


def held(page: Page) -> dict:
    [text] = [text for found, text in page.scripts if found.get("id") == "bb-trials"]
    return json.loads(text)


def test_the_page_has_a_row_and_the_numbers_of_each_trial(run: Run):
    page = rendered(run)
    assert page.unbalanced == []
    rows = run.frame("trials").to_dicts()
    assert [found["id"] for tag, found in page.tags if tag == "tr" and found.get("id")] == [
        links.anchor(row["trial_id"]) for row in rows
    ]
    data = held(page)
    for row, trial in zip(rows, data["trials"], strict=True):
        facts = dict(
            zip(data["facts"], (None if at is None else data["texts"][at] for at in trial["f"]), strict=True)
        )
        assert facts["Block"] == str(row["block"] + 1)
        assert facts["Status"] == row["status"]
        assert facts["Version"] == row["version_reported"]
        metrics = [data["metrics"][at] for at in data["columns"][trial["k"]]]
        measured = {(one[0], one[4]): value for one, value in zip(metrics, trial["m"], strict=True)}
        known = run.frame("measurements").filter(trial_id=row["trial_id"])
        assert len(measured) == known.height
        for number in known.to_dicts():
            assert measured[number["phase"], number["metric"]] == pytest.approx(number["value"], rel=1e-3)
        assert len(trial["c"]) == run.frame("checks").filter(trial_id=row["trial_id"]).height


def test_samples_keep_their_shape_and_their_largest_value(run: Run):
    data = held(rendered(run))
    series = [one for trial in data["trials"] for one in trial["t"]]
    assert series
    for _, seconds, mean, largest, samples in series:
        assert seconds > 0
        assert mean
        assert largest
        assert len(samples) <= trials.DETAILS[0][0]
        assert set(samples) <= {*trials.DIGITS, trials.GAP}
        assert trials.DIGITS[-1] in samples


@pytest.mark.parametrize(("seconds", "value"), [(-1.0, 1.0), (0.0, 1.0), (1.0, -50.0)])
def test_impossible_samples_of_another_run_are_left_out(
    run: Run, monkeypatch: pytest.MonkeyPatch, seconds: float, value: float
):
    real = run.frame

    def frame(table: str, *more: object) -> pl.DataFrame:
        found = real(table, *more)
        if table != "telemetry":
            return found
        return found.with_columns(pl.lit(seconds).alias("seconds"), pl.lit(value).alias("value"))

    monkeypatch.setattr(run, "frame", frame)
    monkeypatch.setitem(run.info, "argv", "5")
    assert not [one for trial in held(rendered(run))["trials"] for one in trial["t"]]


def test_a_run_with_too_much_data_leaves_out_telemetry_first_and_says_so(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    whole = len(
        json.dumps(
            trials.data(trials.Recorded.of(run), *trials.DETAILS[-2]),
            separators=(",", ":"),
            ensure_ascii=False,
        )
    )
    monkeypatch.setattr(trials, "LARGEST", whole)
    data = held(rendered(run))
    assert data["left"] == {"telemetry": True, "measurements": False}
    monkeypatch.setattr(trials, "LARGEST", 10)
    data = held(rendered(run))
    assert data["left"] == {"telemetry": True, "measurements": True}
    assert len(data["trials"]) == run.frame("trials").height


def test_text_of_a_run_never_ends_the_data(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trials, "data", lambda *_: {"texts": ["</script><script>alert(1)</script>"]})
    assert held(rendered(run)) == {"texts": ["</script><script>alert(1)</script>"]}


def test_every_dot_of_a_trial_leads_to_it(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(links.VARIABLE, raising=False)
    plain = strip.throughput(run)
    assert "href" not in json.dumps(plain.spec)
    monkeypatch.setenv(links.VARIABLE, "runs/x.html")
    linked = strip.throughput(run)
    [layer] = [one for one in linked.spec["layer"] if "href" in one.get("encoding", {})]
    assert layer["transform"] == [{"calculate": '"runs/x.html#" + datum.trial', "as": "href"}]
    rows = (
        linked.spec["datasets"][layer["data"]["name"]] if "name" in layer["data"] else layer["data"]["values"]
    )
    assert {row["trial"] for row in rows} == {links.anchor(one) for one in run.ok["trial_id"]}
    assert not re.search(r"<a\b", linked.svg)


def test_points_without_a_trial_lead_nowhere(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(links.VARIABLE, "runs/x.html")
    assert marks.linked("chart", [{"trial": "trial-0001"}, {"value": 1}]) == "chart"


def test_the_files_of_the_run_are_linked(run: Run):
    page = rendered(run)
    folder = run.results / "runs"
    found = [one["href"] for tag, one in page.tags if tag == "a" and not one["href"].startswith("#")]
    assert f"{run.run_id}/run.json" in found
    assert all((folder / Path(one)).is_file() for one in found)
