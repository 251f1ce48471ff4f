"""What a run says at its end if its systems gave different answers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.analyse import run as runs
from benchbook.analyse import same_work
from benchbook.analyse.answers import Answer
from benchbook.analyse.same_work import Group, SameWork
from benchbook.cli import differing
from benchbook.workloads.program import kept_output


def answered(system: str, trial: int, text: str) -> Answer:
    columns = ("time_ns", "host", "value")
    return Answer(system, f"r/000{trial}", "search", "0", columns, ((0, "output", text),), "vanilla")


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def of(*held: Answer, against_itself: bool = False) -> tuple[bool, str]:
        ok = SimpleNamespace(n_unique=lambda: 2)
        run = SimpleNamespace(title=str.upper, ok={"system": ok})
        work = SameWork([Group("d", len(held), held)], asked=True)
        monkeypatch.setattr(runs, "Run", lambda *_: run)
        monkeypatch.setattr(same_work, "of_run", lambda _: work)
        plan: Any = SimpleNamespace(run_id="r", against_itself=against_itself)
        return differing.show(plan, tmp_path), capsys.readouterr().err

    return of


def test_two_outputs_that_differ_end_the_run_with_a_diff_of_both(tmp_path: Path, shown: Any) -> None:
    files = [kept_output(tmp_path / "runs" / "r" / "trials" / trial, "search") for trial in ("0001", "0002")]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text("a\n")
    differ, said = shown(answered("rg", 1, "a"), answered("grep", 2, "b"))
    assert differ
    assert "bench: GREP and RG gave different answers in search, so no speeds are compared.\n" in said
    assert f"What differs: diff {files[1]} {files[0]}" in said


def test_other_answers_are_on_the_page(shown: Any) -> None:
    differ, said = shown(answered("a", 1, "a"), answered("b", 2, "b"))
    assert differ
    assert 'on the page, under "The answers that differ": ' in said


def test_if_most_systems_agree_the_others_are_named_and_speeds_compared(shown: Any) -> None:
    differ, said = shown(answered("a", 1, "a"), answered("b", 2, "a"), answered("c", 3, "b"))
    assert not differ
    assert "gave different answers in search.\n" in said


def test_equal_answers_and_an_a_a_run_say_nothing(shown: Any) -> None:
    assert shown(answered("a", 1, "a"), answered("b", 2, "a")) == (False, "")
    assert shown(answered("a", 1, "a"), answered("b", 2, "b"), against_itself=True) == (False, "")
