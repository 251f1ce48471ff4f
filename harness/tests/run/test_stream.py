"""Events are stored at once, and a failed client's messages stay in the record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import TrialFailed
from benchbook.run.findings import EventFile, required_summary

ERROR = {"v": 1, "type": "error", "kind": "connection", "message": "refused", "operations": 1, "rows": 5000}


def test_what_comes_is_written_down_and_taken(tmp_path: Path) -> None:
    rates: list[tuple[float, str]] = []
    file = EventFile(tmp_path, lambda rate, unit: rates.append((rate, unit)))
    events: list[dict[str, Any]] = [
        {"v": 1, "type": "interval", "operation": "write", "duration_ns": 2_000_000_000, "rows": 100},
        {"v": 1, "type": "answer", "id": 0, "rows": []},
        {"v": 1, "type": "summary", "rows": 100},
    ]
    taken = file.take("load", iter(events))
    file.close()
    assert rates == [(50.0, "rows/s")]
    assert taken.answers == 1
    assert required_summary(taken, "load")["rows"] == 100
    written = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [event["type"] for event in written] == ["interval", "summary"]
    assert {event["phase"] for event in written} == {"load"}
    assert len((tmp_path / "answers.jsonl").read_text().splitlines()) == 1


def test_a_client_that_fails_leaves_its_words(tmp_path: Path) -> None:
    def failing() -> Iterator[dict[str, Any]]:
        yield ERROR
        raise TrialFailed("it ended")

    kept: list[tuple[str, list[dict[str, Any]]]] = []
    file = EventFile(tmp_path, lambda _rate, _unit: None, lambda phase, errors: kept.append((phase, errors)))
    with pytest.raises(TrialFailed, match="it ended"):
        file.take("load", failing())
    file.close()
    assert kept == [("load", [ERROR])]
    assert "refused" in (tmp_path / "events.jsonl").read_text()


def test_no_summary_is_a_failure_with_the_last_words(tmp_path: Path) -> None:
    file = EventFile(tmp_path, lambda _rate, _unit: None)
    taken = file.take("load", iter([ERROR]))
    file.close()
    with pytest.raises(TrialFailed, match="load: the client ended without a summary: refused"):
        required_summary(taken, "load")
