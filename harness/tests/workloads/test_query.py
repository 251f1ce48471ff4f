"""Latency of queries: from the intended start if there is one, of timed operations only, never averaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from benchbook.errors import TrialInvalid
from benchbook.measure.operations import latency
from benchbook.run.findings import EventFile, Findings, Timeline
from benchbook.workloads import query


def histogram(kind: str, operation: str, *milliseconds: int) -> dict[str, Any]:
    held = HdrHistogram(1000, 3_600_000_000_000, 3)
    for value in milliseconds:
        held.record_value(value * 1_000_000)
    return {
        "type": "histogram", "kind": kind, "operation": operation, "count": len(milliseconds),
        "encoded": held.encode().decode(),
    }  # fmt: skip


def found(*events: dict[str, Any]) -> dict[str, float]:
    return {one.metric: one.value for one in latency("q", list(events))}


def test_the_intended_start_counts_where_there_is_one() -> None:
    both = found(histogram("response", "query", 100, 100), histogram("service", "query", 1, 1))
    assert both["latency_p50"] == pytest.approx(0.1, rel=0.01)
    assert found(histogram("service", "query", 1, 1))["latency_p50"] == pytest.approx(0.001, rel=0.01)


def test_the_warm_up_is_no_part_of_it() -> None:
    numbers = found(histogram("service", "warmup", 900, 900, 900), histogram("service", "query", 2, 2))
    assert numbers["latency_max"] == pytest.approx(0.002, rel=0.01)


def test_percentiles_are_those_of_merged_histograms() -> None:
    numbers = found(histogram("service", "query", *[1] * 180), histogram("service", "query", *[100] * 20))
    assert numbers["latency_p50"] == pytest.approx(0.001, rel=0.01), "their average would be 0.05"
    assert numbers["latency_p95"] == pytest.approx(0.1, rel=0.01)


def test_a_percentile_needs_ten_operations_beyond_it() -> None:
    few, enough = (found(histogram("service", "query", *[1] * count)) for count in (199, 200))
    assert "latency_p95" not in few
    assert "latency_p95" in enough
    assert {"latency_p50", "latency_p90", "latency_max", "latency_mean"} <= few.keys()
    assert "latency_p99" not in enough


def test_a_query_longer_than_its_phase_has_the_rate_of_its_length() -> None:
    summary = {
        "operations": 3, "drained_operations": 3, "window_ns": 10**9, "duration_ns": 6 * 10**9, "errors": 0,
    }  # fmt: skip
    values = {one.metric: one.value for one in query.measurements("q", summary, [])}
    assert values["queries_per_second"] == 0.5


def test_queries_of_the_warm_up_count_in_no_number() -> None:
    summary = {"operations": 4, "duration_ns": 2 * 10**9, "errors": 0}
    held = [histogram("service", "warmup", *[1] * 50), histogram("service", "query", *[2] * 4)]
    values = {one.metric: one.value for one in query.measurements("q", summary, held)}
    assert (values["queries"], values["queries_per_second"]) == (4, 2)
    assert values["latency_p50"] == pytest.approx(0.002, rel=0.01)


class Lying:
    """A client of a server whose answers lack their rows while it is timed."""

    def __init__(self, timed: list[int]) -> None:
        self.timed = timed
        self.asked: list[Any] = []

    def query(self, request: Any) -> Iterator[dict[str, Any]]:
        self.asked.append(request)
        if request.answers is None:
            yield {"type": "answered", "answers": [digest(query, n) for query, n in enumerate(self.timed)]}
            yield {"type": "summary", "operations": len(self.timed), "duration_ns": 10**9}
            return
        for _ in range(request.answers):
            yield {"type": "answer"}
        checked = sorted({*range(request.answers), *request.also})
        yield {"type": "answered", "answers": [digest(query, 60) for query in checked]}


def digest(query: int, numbers: int) -> dict[str, Any]:
    return {"id": query, "answers": 1, "numbers": numbers, "exact": "0", "sum": 0.0, "size": 0.0}


def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timed: list[int]) -> tuple[Findings, Lying]:
    client, options = Lying(timed), query.QueryOptions(type="1-host-1-hr")
    monkeypatch.setattr(query, "query_set", lambda *_: tmp_path / "queries")
    storage = SimpleNamespace(cached_bytes=lambda: None, bytes=lambda: 0)
    steps: Any = SimpleNamespace(
        context=None, dataset=None, client=client, storage=storage, findings=Findings(), timeline=Timeline(),
        warmth=lambda: "warm", events=EventFile(tmp_path, lambda rate, unit: None), operations=lambda _: None,
    )  # fmt: skip
    query.run(steps, "q", options)
    query.keep_answers(steps, "q", options)
    return steps.findings, client


def test_a_server_that_answers_nothing_while_it_is_timed_makes_the_trial_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings, _ = asked(tmp_path, monkeypatch, [0] * 100)
    with pytest.raises(TrialInvalid, match="timed answers of q that are as checked: expected 40, found 0"):
        findings.require_whole()


def test_one_empty_answer_among_many_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    findings, client = asked(tmp_path, monkeypatch, [60] * 77 + [0] + [60] * 22)
    assert client.asked[-1].also[0] == 77
    with pytest.raises(TrialInvalid, match="expected 40, found 39"):
        findings.require_whole()


def test_a_server_that_answers_the_same_timed_and_untimed_is_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings, _ = asked(tmp_path, monkeypatch, [60] * 100)
    findings.require_whole()
    assert ("timed", 40, 40) in [(one["kind"], one["expected"], one["found"]) for one in findings.checks]
