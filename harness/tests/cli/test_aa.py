"""``bench aa``: how many trials an A/A run has."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.cli import carry_out
from benchbook.cli.app import run
from benchbook.plan.plan import Plan


@pytest.mark.parametrize(
    ("given", "trials"),
    [
        (["quickstart", "--profile", "smoke"], 5),
        (["sqlite-vs-postgres"], 10),
        (["quickstart", "--trials", "2"], 2),
    ],
    ids=["the profile has fewer than 5", "as many as the profile", "as many as asked for"],
)
def test_an_aa_run_has_at_least_five_trials_of_each_label(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: list[str], trials: int
) -> None:
    made: list[Plan] = []
    monkeypatch.setattr(carry_out, "store", lambda plan, _: made.append(plan))
    monkeypatch.setattr(carry_out, "carry_out_and_report", lambda *_: None)
    run(["aa", *given, "--results", str(tmp_path)])
    [plan] = made
    assert plan.trials_per_cell == trials
    assert {trial.levels["aa"] for trial in plan.trials} == {"A", "B"}
    cells = {tuple(level for level in trial.levels.items() if level[0] != "aa") for trial in plan.trials}
    assert len(plan.trials) == 2 * trials * len(cells)
