"""Commands that the end of a run suggests do the same work as the run."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchbook.analyse import same_work
from benchbook.cli import summary
from benchbook.declare.catalogue import Catalogue
from benchbook.plan.plan import plan

SETS = ["--set", "system=duckdb-1.4.5,duckdb", "--set=workers=1"]
SERVER = ["--system", "sqlite=/usr/bin/true"]
SMOKE = "aa quickstart --profile smoke"


@pytest.mark.parametrize(
    ("profile", "argv", "typed"),
    [
        ("quick", ["run", "quickstart"], "aa quickstart"),
        (
            "smoke",
            ["run", "quickstart", "--profile=smoke", *SETS, "--trials", "3", *SERVER, "--until-decided"],
            f"{SMOKE} {' '.join([*SETS, *SERVER])}",
        ),
        (
            "smoke",
            ["run", "quickstart", "--profile", "smoke", "--cluster", "tcp://a:1", *SETS],
            f"{SMOKE} {' '.join(SETS)}",
        ),
        ("smoke", None, SMOKE),
        ("smoke", ["run", "quickstart", "--set"], f"{SMOKE} --set"),
    ],
)
def test_a_suggested_command_has_the_options_of_the_run(
    tmp_path: Path, profile: str, argv: list[str] | None, typed: str
) -> None:
    made = plan(Catalogue(), "quickstart", profile)
    folder = tmp_path / "runs" / made.run_id
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"argv": argv}))
    assert summary._repeated("aa", made, tmp_path) == typed


def test_a_run_that_was_removed_leaves_its_profile(tmp_path: Path) -> None:
    assert (
        summary._repeated("run", plan(Catalogue(), "quickstart", "smoke"), tmp_path)
        == "run quickstart --profile smoke"
    )


def test_after_again_it_has_the_options_of_the_published_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = plan(Catalogue(), "quickstart", "quick")
    folder = tmp_path / "runs" / made.run_id
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"argv": ["run", "quickstart", "--again"]}))
    published = tmp_path / "published"
    published.mkdir()
    (published / "run.json").write_text(json.dumps({"argv": ["run", "quickstart", *SETS]}))
    shown = SimpleNamespace(export=SimpleNamespace(folder=published, machine=None))
    monkeypatch.setattr(summary.ledger, "entries", lambda _: ([shown], []))
    monkeypatch.setattr(summary.ledger, "shown", lambda held: held[0])
    assert summary._repeated("aa", made, tmp_path) == f"aa quickstart {' '.join(SETS)}"


@pytest.mark.parametrize(
    ("profile", "trials", "differ", "typed"),
    [
        ("smoke", 1, False, "run quickstart\n"),
        ("quick", 2, False, "run quickstart --trials 3\n"),
        ("quick", 3, False, ""),
        ("quick", 2, True, ""),
    ],
)
def test_too_few_trials_for_an_answer_name_the_command_that_has_enough(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    profile: str,
    trials: int,
    differ: bool,
    typed: str,
) -> None:
    monkeypatch.setattr(summary, "_resting_here", lambda _: 0)
    monkeypatch.setattr(same_work, "faults", lambda _: ["answers differ"] if differ else [])
    made = plan(Catalogue(), "quickstart", profile, trials=trials)
    summary._show_how_to_know_more(SimpleNamespace(), made, tmp_path)
    said = capsys.readouterr().out
    assert said.endswith(typed)
    assert ("A setup needs 3 trials" in said) == bool(typed)
