"""What a run says at its end if its systems gave different answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.analyse import claims, same_work
from benchbook.analyse import run as runs
from benchbook.analyse.answers import Answer
from benchbook.analyse.same_work import Group, SameWork
from benchbook.cli import differing
from benchbook.workloads.program import EXIT_CODE, kept_output


def answered(system: str, trial: int, text: str) -> Answer:
    columns = ("time_ns", "host", "value")
    return Answer(system, f"r/000{trial}", "search", "0", columns, ((0, "output", text),), "vanilla")


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def of(*held: Answer, against_itself: bool = False, judged: bool = False) -> tuple[bool, str]:
        ok = SimpleNamespace(n_unique=lambda: 2)
        run = SimpleNamespace(title=str.upper, ok={"system": ok}, declared={"claims": [{}]} if judged else {})
        monkeypatch.setattr(claims, "of_run", lambda _: [SimpleNamespace(measured=2.0 if judged else None)])
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
        file.write_text(f"{file}\n")
    differ, said = shown(answered("rg", 1, "a"), answered("grep", 2, "b"))
    assert differ
    assert "bench: GREP and RG gave different answers in search, so no speeds are compared.\n" in said
    assert f"What differs: diff {files[1]} {files[0]}" in said


def test_other_answers_are_on_the_page(shown: Any) -> None:
    differ, said = shown(answered("a", 1, "a"), answered("b", 2, "b"))
    assert differ
    assert 'on the page, under "The answers that differ": ' in said


def test_also_if_most_systems_agree_no_speeds_are_compared(shown: Any) -> None:
    differ, said = shown(answered("a", 1, "a"), answered("b", 2, "a"), answered("c", 3, "b"))
    assert differ
    assert "A and C gave different answers in search, so no speeds are compared.\n" in said


def test_a_claim_on_systems_that_agree_is_judged_and_the_others_are_named(shown: Any) -> None:
    """A configuration may lose rows by design: a claim on others is answered, and the run is no failure."""
    differ, said = shown(answered("a", 1, "a"), answered("b", 2, "b"), judged=True)
    assert not differ
    assert "gave different answers in search.\n" in said


def test_exit_codes_that_differ_are_stated(shown: Any) -> None:
    one, two = (
        replace(answered(name, place, "a"), rows=((0, EXIT_CODE, place), (0, "output", "a")))
        for place, name in enumerate(("a", "b"))
    )
    assert "They ended with the exit codes 0 and 1." in shown(one, two)[1]


def test_ends_that_are_alike_are_said(tmp_path: Path, shown: Any) -> None:
    for trial in ("0001", "0002"):
        file = kept_output(tmp_path / "runs" / "r" / "trials" / trial, "search")
        file.parent.mkdir(parents=True)
        file.write_text("the same ends\n")
    said = shown(answered("a", 1, "a"), answered("b", 2, "b"))[1]
    assert "What differs is in the middle of the outputs" in said


def test_equal_answers_and_an_a_a_run_say_nothing(shown: Any) -> None:
    assert shown(answered("a", 1, "a"), answered("b", 2, "a")) == (False, "")
    assert shown(answered("a", 1, "a"), answered("b", 2, "b"), against_itself=True) == (False, "")
