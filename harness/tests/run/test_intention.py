"""A run is remembered before its plan exists, and forgotten when the plan is stored."""

from __future__ import annotations

import json
import os
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


def test_the_living_are_no_orphans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHBOOK_INTENTION", "")
    assert intention.remember(["run", "x", "--results", str(tmp_path)])
    remembered = intention.current()
    assert remembered is not None
    assert remembered["argv"][:2] == ["run", "x"]
    assert intention.orphans(tmp_path) == []
    intention.forget()
    assert not (tmp_path / "intentions").exists()


def test_the_dead_leave_an_orphan(tmp_path: Path) -> None:
    code = f"from benchbook.run.intention import remember; remember(['run', 'x', '--results', {str(tmp_path)!r}])"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
    [(path, content)] = intention.orphans(tmp_path)
    assert content["argv"][1] == "x"
    assert 0 <= content["order_seed"] < 2**32
    assert path.exists()


def test_garbage_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "intentions").mkdir()
    (tmp_path / "intentions" / "1.json").write_text("{")
    (tmp_path / "intentions" / "2.json").write_text(json.dumps({"pid": "x"}))
    assert intention.orphans(tmp_path) == []
    assert "not readable" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_no_error_yet(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert intention.remember(["run", "x", "--results", str(tmp_path / "file")]) is None


def test_a_number_that_is_now_another_process_is_an_orphan_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "intentions").mkdir()
    content = {"argv": ["run", "x"], "pid": os.getpid(), "started": "another boot:1", "order_seed": 1}
    (tmp_path / "intentions" / "1.json").write_text(json.dumps(content))
    assert len(intention.orphans(tmp_path)) == 1
