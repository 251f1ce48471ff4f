from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchbook.errors import RequestError
from benchbook.record import database, ingest, query, runs
from tests.record import synthetic_run


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs: two of quickstart, a finished aa, and an unfinished aa; made in that order."""
    results = tmp_path_factory.mktemp("runs") / "results"
    small = {"blocks": 1, "instances": 1, "telemetry_seconds": 1, "intervals": 1}
    for minute, (run_id, experiment, trials) in enumerate(
        [
            ("quickstart-a1", "quickstart", None),
            ("quickstart-b2", "quickstart", None),
            ("aa-1", "aa", None),
            ("aa-2", "aa", 1),
        ]
    ):
        synthetic_run.write(
            results, run_id=run_id, experiment=experiment, trials=trials, finished=trials is None, **small
        )
        for name in ("plan.json", "run.json"):
            path = results / "runs" / run_id / name
            path.write_text(
                json.dumps(
                    {**json.loads(path.read_text()), "created_at": f"2026-03-01T09:0{minute}:00+00:00"}
                )
            )
    return results


@pytest.mark.parametrize(
    ("name", "run_id"),
    [
        ("latest", "aa-2"),
        ("quickstart-a1", "quickstart-a1"),
        ("quickstart-b", "quickstart-b2"),
        ("quickstart", "quickstart-b2"),
        ("aa", "aa-2"),
    ],
)
def test_a_run_is_found_by_what_names_it(results: Path, name: str, run_id: str) -> None:
    assert runs.resolve(results, name) == run_id


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        (
            "quickstart-",
            'The ids of 2 runs begin with "quickstart-"; the latest are quickstart-a1, quickstart-b2',
            "more of the run's id",
        ),
        ("quickstrat", 'There is no run "quickstrat"', 'Did you mean "quickstart"?'),
        ("latset", "the name of an experiment that was run: aa, quickstart", 'Did you mean "latest"?'),
        ("%", 'There is no run "%"', "bench list"),
        ("", 'There is no run ""', "bench list"),
    ],
)
def test_a_name_of_no_run_is_a_sentence(results: Path, name: str, message: str, hint: str) -> None:
    with pytest.raises(RequestError) as caught:
        runs.resolve(results, name)
    assert message in caught.value.message
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize("name", ["latest", "aa"])
def test_a_run_without_any_trial_is_the_latest_only_to_be_resumed(
    name: str, tmp_path: Path, said: list[str]
) -> None:
    small = {"blocks": 1, "instances": 1, "telemetry_seconds": 1, "intervals": 1}
    synthetic_run.write(tmp_path, run_id="aa-2", experiment="aa", trials=0, finished=False, **small)
    assert runs.resolve(tmp_path, name, said.append) == "aa-2"
    assert not said
    synthetic_run.write(tmp_path, run_id="aa-1", experiment="aa", **small)
    assert runs.resolve(tmp_path, name, said.append) == "aa-1"
    assert said == ["aa-2 has no trial yet; the latest run that has one is aa-1."]
    assert runs.resolve(tmp_path, name, said.append, empty=True) == "aa-2"


def test_no_runs_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="There are no runs"):
        runs.resolve(tmp_path)
    assert runs.listing(tmp_path) == []


def test_the_unfinished_run_and_what_it_lacks(results: Path, said: list[str]) -> None:
    assert runs.unfinished(results) == ["aa-2"]
    assert [trial["trial_id"] for trial in runs.left(results, "aa-2")] == ["aa-2/0001"]
    assert runs.left(results, "aa-1") == []
    listed = runs.listing(results)
    assert [(row["run"], row["state"], row["trials"]) for row in listed[:2]] == [
        ("aa-2", "unfinished", 1),
        ("aa-1", "whole", 2),
    ]


def test_a_corrupt_trial_is_left_to_do_and_a_corrupt_run_is_said(
    recorded: tuple[Path, str], said: list[str]
) -> None:
    results, run_id = recorded
    (results / "runs" / run_id / "trials" / "0003" / "trial.json").write_text("{")
    assert [trial["index"] for trial in runs.left(results, run_id, said.append)] == [3]
    (results / "runs" / run_id / "plan.json").write_text("{")
    said.clear()
    assert runs.all_runs(results, said.append) == []
    assert runs.run_ids(results) == [run_id]
    assert "plan.json is not valid JSON" in said[0]


def test_catching_up_enters_what_is_missing_and_then_rests(
    recorded: tuple[Path, str], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results, run_id = recorded
    run = results / "runs" / run_id
    hidden = [(run / "trials" / f"{number:04d}" / "trial.json") for number in (2, 4)]
    for path in hidden:
        path.rename(path.with_name("hidden"))
    facts = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**facts, "finished_at": None}))
    assert database.enter(results, run) == 4
    for path in hidden:
        path.with_name("hidden").rename(path)
    assert database.catch_up(results, said.append) == 2
    (run / "run.json").write_text(json.dumps(facts))
    assert database.catch_up(results, said.append) == 0
    assert query.sql(results, "SELECT count(*) FROM runs WHERE finished_at IS NOT NULL").item() == 1
    monkeypatch.setattr(ingest, "run_facts", None)
    assert database.catch_up(results, said.append) == 0
    assert said == []


def test_catching_up_without_runs_makes_nothing(tmp_path: Path) -> None:
    assert database.catch_up(tmp_path) == 0
    assert list(tmp_path.iterdir()) == []


def test_the_latest_run_that_answers_a_question_is_no_a_a_run(tmp_path: Path) -> None:
    from tests.claims import measured_run

    def one(levels: dict[str, object], block: int) -> dict[tuple[str, str], float]:
        return {("load", "rows_per_second"): 1.0}

    measured_run.write(tmp_path, "run-1", {"system": ["a", "b"]}, one)
    measured_run.write(tmp_path, "run-2", {"system": ["a"], "aa": ["A", "B"]}, one)
    runs_of = {run.run_id: run.against_itself for run in runs.all_runs(tmp_path)}
    assert runs_of == {"run-1": False, "run-2": True}
    assert runs.resolve(tmp_path, answering=True) == "run-1"
    assert runs.resolve(tmp_path, "run-2", answering=True) == "run-2"


@pytest.mark.parametrize("levels", [5, True, 0.5, "aa", ["aa"], None, {}])
def test_a_plan_with_odd_levels_hides_no_other_run(tmp_path, levels):
    """The attack: the plan of an imported run ended every command on the results folder."""
    run_id = synthetic_run.write(tmp_path, blocks=1, instances=1, telemetry_seconds=1, intervals=1)
    file = tmp_path / "runs" / run_id / "plan.json"
    plan = json.loads(file.read_text())
    plan["trials"][0]["levels"] = levels
    file.write_text(json.dumps(plan))
    [found] = runs.all_runs(tmp_path)
    assert not found.against_itself
