"""Commands that the end of a run suggests do the same work as the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
