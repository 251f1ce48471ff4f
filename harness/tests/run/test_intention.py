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
    assert intention.orphans(tmp_path) == []
    intention.forget()
    assert not (tmp_path / "intentions").exists()


@pytest.mark.parametrize("seed", [["--order-seed", "7"], ["--order-seed=7"]])
def test_a_given_order_seed_stays(tmp_path: Path, seed: list[str]) -> None:
    argv = ["run", "x", *seed, "--results", str(tmp_path)]
    assert intention.remember(argv) == argv
    intention.forget()


def test_the_dead_leave_an_orphan(tmp_path: Path) -> None:
    code = f"from benchbook.run.intention import remember; remember(['run', 'x', '--results', {str(tmp_path)!r}])"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
    [(path, argv)] = intention.orphans(tmp_path)
    assert argv[:2] == ["run", "x"]
    assert argv[4] == "--order-seed"
    assert path.exists()


def test_garbage_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "intentions").mkdir()
    (tmp_path / "intentions" / "1.json").write_text("{")
    (tmp_path / "intentions" / "2.json").write_text(json.dumps({"pid": "x"}))
    assert intention.orphans(tmp_path) == []
    assert capsys.readouterr().err.count("is unreadable") == 2


def test_a_folder_that_cannot_be_written_is_no_error_yet(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert intention.remember(["run", "x", "--results", str(tmp_path / "file")])[:2] == ["run", "x"]
    intention.forget()


def test_object_storage_makes_no_local_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    intention.remember(["run", "x", "--results", "s3://bucket/prefix"])
    assert list(tmp_path.iterdir()) == []
