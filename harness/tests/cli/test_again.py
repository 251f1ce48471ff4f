"""``bench run X --again`` takes the options of the published run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from benchbook.cli import again, app
from benchbook.errors import RequestError
from benchbook.record import folder, ledger
from benchbook.site import published
from tests.record import synthetic_run
from tests.site import checkout as making


def context(*words: str) -> Any:
    program = typer.main.get_command(app.app)
    [command] = [program.commands["run"]]  # type: ignore[attr-defined]
    return command.make_context("run", [*words])


@pytest.fixture
def ledger_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that publishes a run of quickstart made with some arguments."""

    def publish(*argv: str) -> None:
        run_id = synthetic_run.write(tmp_path / "results")
        path = tmp_path / "results" / "runs" / run_id / folder.RUN_FILE
        path.write_text(json.dumps({**json.loads(path.read_text()), "argv": [*argv]}))
        root = making.make(tmp_path, empty=True)
        published.publish(tmp_path / "results", run_id, root / ledger.DATA)
        monkeypatch.setattr(again, "root", lambda: root)

    return publish


def test_the_options_are_those_of_the_published_run(ledger_of: Any):
    ledger_of(
        "--results", "x", "run", "quickstart", "--set", "system=duckdb,sqlite", "--trials=7", "--profile", "smoke",
        "--set=arm=vanilla", "--yes",
    )  # fmt: skip
    assert again.options("quickstart", context("quickstart", "--again", "--order-seed", "3")) == {
        "profile": "smoke", "sets": ["system=duckdb,sqlite", "arm=vanilla"], "trials": 7, "until_decided": False,
        "budget": None, "no_aa": False,
    }  # fmt: skip


def test_a_run_with_looks_is_repeated_with_looks(ledger_of: Any):
    ledger_of("run", "quickstart", "--until-decided", "--budget", "10m", "--no-aa")
    found = again.options("quickstart", context("quickstart", "--again"))
    assert (found["until_decided"], found["budget"], found["no_aa"]) == (True, "10m", True)


@pytest.mark.parametrize("given", [["--trials", "3"], ["--profile", "quick"], ["--set", "system=duckdb"]])
def test_an_option_that_the_published_run_settles_is_refused(ledger_of: Any, given: list[str]):
    ledger_of("run", "quickstart")
    with pytest.raises(RequestError, match=f"{given[0]} cannot be combined with --again"):
        again.options("quickstart", context("quickstart", "--again", *given))


def test_an_experiment_without_a_published_run_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = making.make(tmp_path, empty=True)
    monkeypatch.setattr(again, "root", lambda: root)
    with pytest.raises(RequestError, match="quickstart has no published run"):
        again.options("quickstart", context("quickstart", "--again"))
