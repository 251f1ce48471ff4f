"""The end of a run names the programs of which nothing states where they come from."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.cli import summary


@pytest.mark.parametrize(
    ("program", "named"),
    [
        ({"source": "given", "path": "/opt/x"}, True),
        ({"source": "given", "path": "/opt/x", "origin": "image a:1"}, False),
        ({"source": "given", "path": "/bin/x", "image": "sha256:1"}, False),
        ({"source": "given", "path": None, "url": "http://127.0.0.1:1"}, False),
        ({"source": "host", "path": "/usr/bin/x"}, False),
        ({"unavailable": "no image"}, False),
    ],
)
def test_a_program_given_by_its_path_needs_an_origin(
    program: dict[str, Any], named: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "runs" / "r-1"
    place.mkdir(parents=True)
    (place / "run.json").write_text(json.dumps({"programs": {"redis-7": program, "gone": None}}))
    made: Any = SimpleNamespace(run_id="r-1")
    summary.show_missing_origins(made, tmp_path)
    shown = capsys.readouterr().err
    assert ("nothing states where the program of redis-7 comes from" in shown) == named
    assert ("--origin 'redis-7=image NAME:TAG'" in shown) == named


def test_a_run_that_was_removed_meanwhile_needs_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made: Any = SimpleNamespace(run_id="r-1")
    summary.show_missing_origins(made, tmp_path)
    assert capsys.readouterr().err == ""
