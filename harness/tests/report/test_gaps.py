"""The table of failed, invalid and skipped trials."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from benchbook.analyse.values import Cell
from benchbook.report.tables import work


def run(*trials: tuple[int, str, str, str]) -> Any:
    rows = [
        {"trial_id": f"r/{number:04d}", "cell": name, "block": number % 3, "status": status, "reason": reason}
        for number, name, status, reason in trials
    ]
    return SimpleNamespace(
        frame=lambda _: pl.DataFrame(rows), info={"planned_trials": len(rows)}, title=str.upper
    )


@pytest.fixture(autouse=True)
def two_cells_of_one_system(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        Cell(name, "a", "vanilla", {}, 0, 3, (), None, (), (), (), (), "A", (("size", name),))
        for name in "xy"
    ]
    monkeypatch.setattr(work, "labelled", lambda _: found)


def test_a_skipped_system_is_one_row():
    table = work.gaps_table(
        run(*((number, "xy"[number % 2], "skipped", "no program") for number in range(6)))
    )
    assert table.rows == [["6 trials", "A", "1 to 3", "skipped", "no program"]]


def test_each_failed_trial_is_a_row_of_its_own():
    table = work.gaps_table(run((0, "x", "failed", "died"), (1, "x", "failed", "died"), (2, "x", "ok", "")))
    assert [[row[0].text, *row[1:3]] for row in table.rows] == [
        ["0000", "A, objects of x", "1"],
        ["0001", "A, objects of x", "2"],
    ]
