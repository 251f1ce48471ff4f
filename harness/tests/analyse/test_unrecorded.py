"""Answers that are absent on one side are unknown, and unknown is no agreement."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchbook.analyse import same_work
from benchbook.analyse.run import Run, open_run
from benchbook.record import database, folder
from benchbook.report import answer, reasons
from benchbook.report.conclusion import refused


def without_answers(made: Callable[..., Run], fewest: int) -> Run:
    """Return a run whose DuckDB lost the answers of its trials, all but the first ``fewest``."""
    run = made()
    lost = run.ok.filter(run.ok["system"] == "duckdb")["trial_id"].to_list()[fewest:]
    for place in folder.trial_folders(run.results / "runs" / run.run_id):
        if f"{run.run_id}/{place.name}" in lost:
            (place / "answers.jsonl").unlink()
    database.rebuild(run.results)
    return open_run(run.results, run.run_id)


def text(shown: object) -> str:
    return str(getattr(shown, "markdown", shown))


@pytest.mark.parametrize(("fewest", "said"), [(0, "3 of 3"), (1, "2 of 3")])
def test_answers_of_one_side_alone_do_not_agree(made: Callable[..., Run], fewest: int, said: str) -> None:
    run = without_answers(made, fewest)
    [fault] = same_work.faults(run)
    assert fault.code == "answers-missing-of"
    assert reasons.sentence([fault]).startswith(f"{said} trials of duckdb (vanilla) have no recorded answers")
    work = same_work.of_run(run)
    assert work.faults([("duckdb", "vanilla"), ("sqlite", "vanilla")])
    assert work.faults([("sqlite", "vanilla"), ("another", "vanilla")]) == []
    assert "agree" not in text(answer.table(run))
    assert "no recorded answers" in text(answer.table(run))
    assert refused(run, "The speeds") is not None


def test_all_answers_agree(plain: Run) -> None:
    assert plain.unrecorded() == {}
    assert same_work.faults(plain) == []
