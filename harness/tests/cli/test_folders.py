"""Commands that take RUN take the folder of a published run too, and leave it unchanged."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from benchbook.cli.app import run
from benchbook.declare.catalogue import root

QUICKSTART = root() / "reports" / "data" / "quickstart"
RUN = QUICKSTART / "quickstart-20261128T002424-2271"
AGAINST_ITSELF = QUICKSTART / "quickstart-20261128T002559-fab1"
CNOS = root() / "reports" / "data" / "cnos-vs-influx"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder, without results."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BENCHBOOK_RESULTS", raising=False)


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
def test_claims_of_a_published_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = digests(CNOS)
    assert run(["claims", str(CNOS), "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    assert len(judged) == 13
    assert {row["id"] for row in judged} >= {"ratios", "second-ratios"}
    assert digests(CNOS) == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("turned", [False, True])
def test_sql_over_one_folder(turned: bool, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["SELECT run_id, count(*) AS n FROM trials GROUP BY 1", str(QUICKSTART)]
    assert run(["sql", *(reversed(words) if turned else words), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"run_id": "quickstart-20261128T002424-2271", "n": 10}]


def test_sql_without_a_query_lists_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sql", str(QUICKSTART)]) == 0
    assert "One number for each trial, phase and metric." in capsys.readouterr().out
    assert run(["sql", "SELECT 1", "SELECT 2"]) == 2
    assert "one SQL statement and at most one folder" in capsys.readouterr().err


def test_show_a_published_run_and_one_of_its_trials(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", f"{QUICKSTART}/", "--json"]) == 0
    [shown] = json.loads(capsys.readouterr().out)
    assert shown["experiment"] == "quickstart"
    assert run(["show", f"{QUICKSTART}/0003", "--json"]) == 0
    [shown] = json.loads(capsys.readouterr().out)
    assert shown["trial_id"].endswith("/0003")
    assert shown["levels"]["system"] == shown["system"]
    assert run(["show", f"{QUICKSTART}/9999"]) == 2
    assert "There is no experiment, system" in capsys.readouterr().err


@pytest.mark.slow
def test_compare_a_published_run_with_an_imported_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", str(AGAINST_ITSELF)]) == 0
    assert run(["compare", str(QUICKSTART), "latest", "--json"]) == 0
    told = capsys.readouterr()
    compared = json.loads(told.out.partition("\n")[2])  # below the id that import printed
    assert {row["metric"] for row in compared} >= {"rows_per_second", "disk_bytes"}
    assert "not interleaved" in told.err
    assert run(["import", str(QUICKSTART)]) == 0
    imported = capsys.readouterr().out.strip().splitlines()[-1]
    assert run(["compare", str(QUICKSTART), imported]) == 2  # the same run twice
    assert "cannot be compared with itself" in capsys.readouterr().err


def test_rerun_and_import_and_export(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHBOOK_NIX", "nix")
    assert run(["rerun", str(QUICKSTART), "--flake", "github:o/n", "--print"]) == 0
    assert "--order-seed" in capsys.readouterr().out
    assert run(["import", str(QUICKSTART)]) == 0
    assert capsys.readouterr().out == "quickstart-20261128T002424-2271\n"
    assert run(["list", "runs", "--json"]) == 0
    [listed] = json.loads(capsys.readouterr().out)
    assert (listed["trials"], listed["state"]) == (10, "whole")
    assert run(["sql", "SELECT count(*) AS n FROM trials", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"n": 10}]


def test_what_is_no_run_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(RUN, damaged)
    (damaged / "run.json").write_text("{}")
    published = len(list((root() / "reports" / "data").glob("**/manifest.json")))
    for argv, message in (
        (["claims", "./"], "but 1 run is in its subfolders"),
        (["claims", "damaged/tables/"], "is not the folder of a run"),
        (["claims", str(damaged)], "is damaged"),
        (["claims", str(root() / "reports" / "data")], f"but {published} runs are in its subfolders"),
        (["sql", str(damaged)], "is damaged"),
        (["report", str(damaged)], "is damaged"),
        (["export", str(damaged)], "is damaged"),
        (["compare", str(damaged), str(QUICKSTART)], "is damaged"),
        (["import", str(damaged)], "is damaged"),
        (["resume", str(RUN)], "cannot be continued"),
    ):
        assert run(argv) == 2, argv
        told = capsys.readouterr().err
        assert message in told, argv
        assert len(told.splitlines()) == 2, told
    assert not (tmp_path / "results").exists()


def test_bench_alone_says_what_to_do_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    shown = capsys.readouterr().out
    assert f"There are no runs in {tmp_path / 'results'} yet." in shown
    assert "bench run quickstart" in shown
    assert run(["import", str(QUICKSTART)]) == 0
    capsys.readouterr()
    assert run([]) == 0
    shown = capsys.readouterr().out
    assert "Latest run: quickstart-20261128T002424-2271, profile quick, 10 of 10 trials." in shown
    assert "bench claims" in shown
    shutil.rmtree(tmp_path / "results" / "runs" / "quickstart-20261128T002424-2271" / "tables")
    assert run([]) == 0
    assert "bench resume" not in capsys.readouterr().out  # an imported run is not continued
