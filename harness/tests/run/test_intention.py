"""A run is recorded before its plan exists; storing the plan removes the record."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchbook.run import intention


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["run", "x", "--results", "a b"], "a b"),
        (["run", "x", "--results=c"], "c"),
        (["run", "--results"], "results"),
        (["run", "x"], "results"),
    ],
)
def test_results_folder(argv: list[str], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCHBOOK_RESULTS", raising=False)
    assert intention.results_folder(argv) == Path(expected)


def test_the_living_are_no_orphans(tmp_path: Path) -> None:
    argv = intention.remember(["run", "x", "--results", str(tmp_path)])
    assert argv[:4] == ["run", "x", "--results", str(tmp_path)]
    assert argv[4] == "--order-seed"
    assert 0 <= int(argv[5]) < 2**32
    [file] = (tmp_path / "intentions").glob("*.json")
    assert json.loads(file.read_text())["argv"] == argv
    assert intention.take_over(tmp_path) is None
    intention.forget()
    assert not (tmp_path / "intentions").exists()


@pytest.mark.parametrize("seed", [["--order-seed", "7"], ["--order-seed=7"]])
def test_a_given_order_seed_stays(tmp_path: Path, seed: list[str]) -> None:
    argv = ["run", "x", *seed, "--results", str(tmp_path)]
    assert intention.remember(argv) == argv
    intention.forget()


def dies(results: Path, *lines: str) -> None:
    """Let a process record a run, do what the lines say, and end without removing its record."""
    first = f"argv = intention.remember(['run', 'x', '--results', {str(results)!r}])"
    code = "\n".join(["import os", "from benchbook.run import intention", first, *lines, "os._exit(0)"])
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def records(results: Path) -> list[Path]:
    return sorted((results / "intentions").glob("*"))


TAKE = "intention.take_over(__import__('pathlib').Path(argv[3]))"
NAME = "intention.name_run('x-1')"


@pytest.mark.parametrize("lines", [[], [NAME]])
def test_a_run_killed_before_its_plan_is_taken_over_by_one_process(tmp_path: Path, lines: list[str]) -> None:
    dies(tmp_path, *lines)
    [path] = records(tmp_path)
    argv = intention.take_over(tmp_path)
    assert argv is not None
    assert argv[:2] == ["run", "x"]
    assert argv[4] == "--order-seed"
    assert intention.take_over(tmp_path) is None  # this process holds it
    assert records(tmp_path) == [path]
    intention.forget()
    assert not path.exists()


def test_a_plan_that_is_stored_counts_and_its_record_goes(tmp_path: Path) -> None:
    dies(tmp_path, NAME)
    plan = tmp_path / "runs" / "x-1" / "plan.json"
    plan.parent.mkdir(parents=True)
    plan.write_text("{}")
    assert intention.take_over(tmp_path) is None
    assert records(tmp_path) == []
    assert plan.exists()


def test_a_resume_that_is_killed_leaves_the_one_record(tmp_path: Path) -> None:
    dies(tmp_path, NAME)
    before = records(tmp_path)
    dies(tmp_path, "intention.forget()", TAKE, "intention.name_run('x-2')")
    assert records(tmp_path) == before
    assert [json.loads(line).get("run") for line in before[0].read_text().splitlines()] == [
        None,
        "x-1",
        "x-2",
    ]
    (tmp_path / "runs" / "x-2").mkdir(parents=True)
    (tmp_path / "runs" / "x-2" / "plan.json").write_text("{}")
    assert intention.take_over(tmp_path) is None
    assert records(tmp_path) == []


def test_garbage_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "intentions").mkdir()
    (tmp_path / "intentions" / "1.json").write_text("{")
    (tmp_path / "intentions" / "2.json").write_text(json.dumps({"pid": "x"}))
    assert intention.take_over(tmp_path) is None
    assert capsys.readouterr().err.count("is unreadable") == 2


def test_a_folder_that_cannot_be_written_is_no_error_yet(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert intention.remember(["run", "x", "--results", str(tmp_path / "file")])[:2] == ["run", "x"]
    intention.forget()


def test_object_storage_makes_no_local_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    intention.remember(["run", "x", "--results", "s3://bucket/prefix"])
    assert list(tmp_path.iterdir()) == []
