"""Commands of one's own on a folder: the outputs are compared, and a run says in what they differ."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from bench import bench, need_benchload, rows

EXPERIMENT = """
title = "A search"
question = "Which finds the word faster?"
dataset = "corpus"
[factors]
system = ["recursive", "found"]
[[phases]]
name = "search"
workload = "program"
options = { shell = "bash", compared = "sorted" }
[profiles.quick]
trials = 2
trial_seconds = 1
options = { duration = "0.1s" }
"""
SYSTEMS = {
    "recursive": "grep -rn word {file}",
    "found": "find {file} -type f -exec grep -Hn word {{}} +",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    need_benchload()
    made = tmp_path / "project"
    for name in ("datasets/corpus/deep", "experiments/search", "systems"):
        (made / name).mkdir(parents=True)
    (made / "benchbook.toml").write_text('name = "own"\n')
    (made / "datasets/corpus/a.txt").write_text("a word\n")
    (made / "datasets/corpus/deep/b.txt").write_text("no\nword\n")
    (made / "datasets/corpus.toml").write_text(
        'name = "corpus"\ntitle = "C"\ndescription = "C."\n[source]\nfile = "corpus"\nformat = "folder"\n'
    )
    (made / "experiments/search/experiment.toml").write_text(EXPERIMENT)
    for name, command in SYSTEMS.items():
        text = f'name = "{name}"\ntitle = "{name}"\n[source]\ncommand = "{command}"\nversion_command = "grep -V"\n'
        (made / f"systems/{name}.toml").write_text(text)
    monkeypatch.setenv("BENCHBOOK_PROJECT", str(made))
    return made


def test_a_folder_is_searched_and_a_difference_is_shown(project: Path, open_folder: Path) -> None:
    results = open_folder / "results"
    done = bench("run", "search", "--results", str(results))
    assert done.returncode == 0, done.stderr
    assert {row["status"] for row in rows(results, "select status from trials")} == {"ok"}
    assert "What differs" not in done.stderr
    found = project / "systems/found.toml"
    found.write_text(found.read_text().replace("-type f", "-name a.txt"))
    done = bench("run", "search", "--results", str(results))
    assert done.returncode == 4, done.stderr
    assert "gave different answers in search, so no speeds are compared." in done.stderr
    [command] = [line.partition(": ")[2] for line in done.stderr.splitlines() if "What differs: " in line]
    shown = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
    assert "b.txt:2:word" in shown.stdout
    assert "a.txt:1:a word" not in shown.stdout
