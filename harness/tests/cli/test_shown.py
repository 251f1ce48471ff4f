"""What lists, comparisons and `show` print on one screen: no column that all rows share, no cut name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchbook.cli import summary, table
from benchbook.cli.app import run
from benchbook.declare.catalogue import root

PUBLISHED = root() / "reports" / "data" / "quickstart"


def test_what_all_rows_share_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"run": name, "profile": "smoke", "set": "", "trials": 3} for name in "ab"]
    table.show_differing(rows, as_json=False)
    assert capsys.readouterr().out == "Equal in all rows: profile = smoke, trials = 3\nrun\na\nb\n"
    table.show_differing(rows, as_json=True)
    assert json.loads(capsys.readouterr().out) == rows
    table.show_differing(rows[:1], as_json=False)
    assert "profile" in capsys.readouterr().out.splitlines()[0]


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    """Import the published run of quickstart."""
    [folder, *_] = sorted(path for path in PUBLISHED.iterdir() if path.is_dir())
    assert run(["import", str(folder), "--results", str(tmp_path)]) == 0
    return tmp_path


def test_a_run_is_shown_on_one_screen(imported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["show", "latest", "--results", str(imported)]) == 0
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) < 50
    assert "values (--all shows them): " in shown
    assert run(["show", "latest", "--all", "--results", str(imported)]) == 0
    every = capsys.readouterr().out
    assert len(every.splitlines()) > 200
    assert "host.cpu" in every


def test_runs_show_their_kind_and_levels(imported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [folder] = (imported / "runs").iterdir()
    other = imported / "runs" / "quickstart-20260101T000000-abcd"
    shutil.copytree(folder, other)
    facts = json.loads((other / "run.json").read_text())
    argv = ["aa", "quickstart", "--set", "system=duckdb", "--set=scale=8"]
    (other / "run.json").write_text(json.dumps({**facts, "argv": argv}))
    plan = json.loads((other / "plan.json").read_text())
    for trial in plan["trials"]:
        trial["levels"]["aa"] = "A"
    (other / "plan.json").write_text(json.dumps(plan))
    capsys.readouterr()
    assert run(["list", "runs", "--json", "--results", str(imported)]) == 0
    rows = {row["run"]: row for row in json.loads(capsys.readouterr().out)}
    assert (rows[other.name]["kind"], rows[other.name]["set"]) == ("A/A", "system=duckdb scale=8")
    assert rows[folder.name]["kind"] == "run"


def test_a_name_of_two_declarations_shows_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for part in ("datasets", "storage", "systems"):
        (tmp_path / part).symlink_to(root() / part)
    shutil.copytree(root() / "experiments" / "quickstart", tmp_path / "experiments" / "devops")
    monkeypatch.setenv("BENCHBOOK_ROOT", str(tmp_path))
    assert run(["show", "devops", "--json"]) == 0
    assert [one["kind"] for one in json.loads(capsys.readouterr().out)] == ["experiment", "dataset"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[factors]", "[factors]\nbatch_size = ['big', 5000]", "profile smoke: "),
        ('dataset = "devops"', 'dataset = "devop"', '"devop"'),
    ],
)
def test_what_no_run_could_do_is_a_mistake_when_it_is_shown(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    old: str,
    new: str,
    said: str,
) -> None:
    for part in ("datasets", "systems", "storage", "harness", "reports"):
        (tmp_path / part).symlink_to(root() / part)
    shutil.copytree(root() / "experiments" / "quickstart", tmp_path / "experiments" / "quickstart")
    declared = tmp_path / "experiments" / "quickstart" / "experiment.toml"
    text = declared.read_text()
    assert old in text
    declared.write_text(text.replace(old, new))
    monkeypatch.setenv("BENCHBOOK_ROOT", str(tmp_path))
    assert run(["show", "quickstart"]) == 2
    assert said in capsys.readouterr().err


def test_a_dataset_from_a_file_is_shown_with_its_digest_and_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "benchbook.toml").write_text('name = "mine"\n')
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "own-trips.csv").write_text("Distance km,day\n1.5,2024-01-31\n")
    stated = 'name = "own-trips"\ntitle = "T"\ndescription = "T."\n[source]\nfile = "own-trips.csv"\n'
    (tmp_path / "datasets" / "own-trips.toml").write_text(stated)
    monkeypatch.setenv("BENCHBOOK_PROJECT", str(tmp_path))
    assert run(["show", "own-trips", "--json"]) == 0
    [found] = json.loads(capsys.readouterr().out)
    assert len(found["source"]["sha256"]) == 64
    assert found["table"] == {"own_trips": {"distance_km": "float", "day": "date"}}
    (tmp_path / "datasets" / "own-trips.csv").unlink()
    assert run(["show", "own-trips"]) == 2
    assert "datasets/own-trips.toml: source.file: " in capsys.readouterr().err


def test_the_list_of_experiments_names_few_systems(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list"]) == 0
    shown = capsys.readouterr().out
    assert "mysql-8, mysql-9 and 9 more" in shown
    assert max(map(len, shown.splitlines())) < 200


def test_no_name_of_a_statement_is_cut() -> None:
    long = "Bytes on disk after background work: InfluxDB 1.8.10 compared with VictoriaMetrics 1.79"
    assert "VictoriaMetrics 1.79" in summary.lines(long)
    assert max(map(len, summary.lines(long).splitlines())) <= summary.WIDEST
