"""``init``: a project that works at once, from any folder of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchbook.cli.app import run
from benchbook.declare.catalogue import Catalogue

ROOT = Path(__file__).resolve().parents[3]


def bench(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command as its own process, which enters the project of ``folder``."""
    around = {**os.environ, "BENCHBOOK_ROOT": str(ROOT), "PYTHONPATH": str(ROOT / "harness")}
    return subprocess.run(
        [sys.executable, "-m", "benchbook", *words],
        cwd=folder,
        env=around,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_new_project_has_a_valid_experiment_and_is_found_from_below(tmp_path: Path) -> None:
    made = bench(tmp_path, "init", "My Work")
    assert made.returncode == 0
    assert made.stdout.startswith(f"{tmp_path / 'My Work'} is the project my-work.")
    folder = tmp_path / "My Work"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["My Work"]
    assert (folder / "README.md").read_text().startswith("# my-work\n")
    assert Catalogue(folder, ROOT).experiment("first").profiles.keys() == {"smoke", "quick"}
    listed = bench(folder / "systems", "list", "--json")
    assert listed.stderr == ""
    owners = {row["experiment"]: row["of"] for row in json.loads(listed.stdout)}
    assert (owners["first"], owners["quickstart"]) == ("project", "built-in")
    assert bench(folder / "experiments", "list", "runs").stdout.startswith(
        f"No runs in {folder / 'results'} yet."
    )
    shown = bench(folder / "reports", "plan", "first", "--profile", "smoke", "--json")
    assert shown.returncode == 0, shown.stderr


def test_entering_a_project_imports_none_of_its_code(tmp_path: Path) -> None:
    bench(tmp_path, "init", "mine")
    for place in ("systems", "workloads", "datasets", "experiments/first"):
        folder = tmp_path / "mine" / place
        folder.mkdir(exist_ok=True)
        for name in ("workload", "dataset", "driver", "engine"):
            (folder / f"{name}.py").write_text("raise SystemExit(99)\n")
    for words in (
        ["list"],
        ["list", "systems"],
        ["list", "runs"],
        ["--help"],
        ["run", "--help"],
        ["show", "local"],
        [],
    ):
        assert bench(tmp_path / "mine", *words).returncode == 0, words


def test_a_folder_that_is_in_use_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kept").write_text("x")
    assert run(["init", str(tmp_path)]) == 2
    assert "is not empty, and init changes no file that exists" in capsys.readouterr().err
    assert run(["init", str(tmp_path / "kept")]) == 2
    assert "is a file" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_an_empty_folder_becomes_a_project(tmp_path: Path) -> None:
    inside = tmp_path / "x"
    inside.mkdir()
    before = inside.stat().st_ino
    assert bench(inside, "init", ".").returncode == 0
    assert inside.stat().st_ino == before
    assert (inside / "benchbook.toml").is_file()


@pytest.mark.parametrize("words", [["test"], ["lint"], ["package"]])
def test_what_develops_benchbook_needs_a_clone(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "experiments").mkdir()
    monkeypatch.setenv("BENCHBOOK_ROOT", str(tmp_path))
    assert run(words) == 2
    assert f"Run it in a clone: ./bench {words[0]}" in capsys.readouterr().err


def test_the_next_steps_work_in_the_new_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a clone").mkdir()
    (tmp_path / "a clone" / "bench").touch()
    monkeypatch.chdir(tmp_path / "a clone")
    monkeypatch.setenv("BENCHBOOK_COMMAND", "./bench")
    assert run(["init", "../my tests"]) == 0
    told = capsys.readouterr().out
    assert "  cd '../my tests'\n" in told
    assert f"  '{tmp_path}/a clone/bench' run first\n" in told
