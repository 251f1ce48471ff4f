"""Conditions that change within a run are named on its page, with the trials of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import changed
from benchbook.analyse.run import Run, open_run
from benchbook.record import database
from benchbook.report import limits
from tests.claims import measured_run

RATE = ("load", "rows_per_second")


def said_of(run: Run) -> list[str]:
    """Return the limits of a run that are about changed conditions."""
    return [one for one in limits.limits(run) if "changed" in one or one.startswith("Other programs")]


@pytest.fixture
def held(tmp_path: Path) -> Callable[..., Run]:
    """Write a run of two systems in three blocks; return it with what a function says of each trial by its number."""

    def write(
        settings: Callable[[int], Any],
        others: Callable[[int], float | None] = lambda number: None,
        **columns: str,
    ) -> Run:
        run_id = measured_run.write(
            tmp_path, "run-1", {"system": ["a", "b"]}, lambda *_: {RATE: 1.0}, blocks=3
        )
        with database.open(tmp_path) as connection:
            for number in range(6):
                trial = f"{run_id}/{number:04d}"
                load = json.dumps({"load1": 0.5, "settings": settings(number)})
                connection.execute("UPDATE trials SET load_before = ? WHERE trial_id = ?", [load, trial])
                for name, value in columns.items():
                    connection.execute(f"UPDATE trials SET {name} = ? WHERE trial_id = ?", [value, trial])
                if (share := others(number)) is not None:
                    row = [trial, "trial", "other_cpu_fraction", share, "1", "lower"]
                    connection.execute("INSERT INTO measurements VALUES (?, ?, ?, ?, ?, ?)", row)
        return open_run(tmp_path, run_id)

    return write


def test_a_quota_from_the_middle_of_the_run_is_named_with_its_trials(held: Any) -> None:
    run = held(
        lambda number: {"cgroup.cpu_limit_cores": "unlimited" if number < 4 else 0.5, "cpu.smt": "off"}
    )
    [said] = said_of(run)
    assert said == (
        "The CPU quota in cores changed during the run: unlimited in trials 0000 to 0003, 0.5 in trials 0004 to 0005."
    )


def test_a_setting_that_changes_often_is_counted(held: Any) -> None:
    run = held(lambda number: {"cpu.governor": [("performance", "powersave")[number % 2]]})
    assert said_of(run) == [
        "The frequency governor changed 5 times during the run, among: performance, powersave."
    ]


@pytest.mark.parametrize("settings", [{"cpu.turbo": "on"}, {}, None, "unknown"])
def test_what_stays_the_same_or_is_unknown_is_not_named(held: Any, settings: Any) -> None:
    assert said_of(held(lambda number: settings)) == []


def test_a_setting_that_is_unreadable_once_has_not_changed(held: Any) -> None:
    run = held(lambda number: {} if number == 2 else {"cpu.turbo": "on"})
    assert said_of(run) == []


def test_settings_of_several_machines_have_not_changed(held: Any) -> None:
    run = held(lambda number: {"machine.boot": str(number)}, placement='{"server": "x", "clients": []}')
    assert changed.settings(run) == {}


def test_busy_programs_from_the_middle_of_the_run_are_named_with_their_trials(held: Any) -> None:
    run = held(lambda number: {}, lambda number: 0.02 if number in (0, 1, 5) else 0.5 + number / 10)
    [said] = said_of(run)
    assert said.replace("\xa0", " ") == (
        "Other programs used 70 % to 90 % of the processor time in 3 of 6 valid trials (trials 0002 to 0004); in the "
        "others at most 2.0 %."
    )


def test_little_work_of_other_programs_is_not_named(held: Any) -> None:
    assert said_of(held(lambda number: {}, lambda number: 0.09)) == []


def test_each_setting_that_trials_record_has_a_name() -> None:
    from benchbook.host.facts import SETTINGS, settings

    assert tuple(limits.SETTINGS) == SETTINGS
    now = settings()
    assert set(now) <= set(SETTINGS)
    assert now["cpu.usable_cores"] >= 1
    json.dumps(now)
