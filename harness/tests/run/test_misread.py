"""An answer of an unexpected form is a failed trial that quotes the answer, in every driver that speaks HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.errors import TrialFailed
from benchbook.process.launch import Program
from benchbook.run.trial import TrialRun
from benchbook.systems.driver import Place, driver

SYSTEMS = ("influxdb1", "cnosdb", "elasticsearch", "questdb", "victoriametrics", "opentsdb", "clickhouse")
ANSWERS = (
    "null", "5", "[1, 2]", '"text"', "{}", '{"results": null}', '{"results": [1, 2]}',
    '{"results": [{"series": [{"name": 5, "columns": null, "values": "x"}]}]}', '{"data": null}', '{"dataset": [[]]}',
    '{"data": [[]]}', '{"data": [null]}', '{"count": null, "version": []}', '[{"name": null}, null]',
)  # fmt: skip


def asked(one: Any) -> Iterator[Callable[[], object]]:
    """Yield what the harness asks a driver for."""
    yield from (one.version, one.prepare, one.count, one.size)


@pytest.mark.parametrize("name", SYSTEMS)
def test_an_answer_of_another_form_is_named(name: str, web: Any, tmp_path: Path) -> None:
    for folder in ("data", "config", "logs"):
        (tmp_path / folder).mkdir()
    program = Program(name, "1.0", "given", path=None, url=web.url)
    trial = object.__new__(TrialRun)
    trial.folder, trial.context = tmp_path, SimpleNamespace(folder=tmp_path)  # type: ignore[assignment]
    place = Place(
        program, "vanilla", {}, tmp_path / "data", tmp_path / "config", tmp_path / "logs", processes=tmp_path
    )
    named = 0
    for answer in ANSWERS:
        web.otherwise = answer
        trial.driver = one = driver(name, place)
        for question in asked(one):
            try:
                question()
            except TrialFailed:
                continue
            except Exception as error:
                reason = trial._defect(error)
                assert f"{name} answers " in reason, (answer, question, reason)
                assert f"with {answer!r}, which is not the form of answer" in reason
                assert reason.endswith("see harness-error.log")
                named += 1
    assert (
        named >= 3 or name == "cnosdb"
    )  # it leaves out rows that are none, and the checks find what is missing


def test_an_error_of_other_code_is_still_the_harness(tmp_path: Path, web: Any) -> None:
    web.otherwise = "null"
    place = Place(
        Program("influxdb1", "1.8", "given", path=None, url=web.url),
        "vanilla",
        {},
        tmp_path,
        tmp_path,
        tmp_path,
    )
    trial = object.__new__(TrialRun)
    trial.folder, trial.context = tmp_path, SimpleNamespace(folder=tmp_path)  # type: ignore[assignment]
    trial.driver = one = driver("influxdb1", place)
    with pytest.raises(AttributeError):
        one.count()
    assert trial._defect(AttributeError("elsewhere")).startswith("the harness itself failed")
