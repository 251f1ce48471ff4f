"""The workload ycsb: its records and choices are benchload's, and its client of SQLite checks what it reads."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from benchbook.declare.experiment import Phase
from benchbook.declare.metric import describe, metrics
from benchbook.errors import RequestError
from benchbook.workers.engine import FailedError
from benchbook.workers.sqlite_engine import SQLite, open_database
from benchbook.workloads import ycsb
from benchbook.workloads.ycsb import YcsbOptions


def test_a_phase_has_one_end_and_a_known_workload() -> None:
    with pytest.raises(RequestError, match="both end the phase"):
        Phase.model_validate(
            {"name": "a", "workload": "ycsb", "options": {"do": "a", "operations": 5, "duration": "1s"}}
        )
    with pytest.raises(RequestError, match="do"):
        Phase.model_validate({"name": "g", "workload": "ycsb", "options": {"do": "g"}})


def test_flags_are_those_of_benchload() -> None:
    from benchbook.systems.client import as_flags

    options = YcsbOptions(do="e", records=7, duration="2s", fields=3)
    assert as_flags(ycsb.flags(options, "e")) == [
        "--do=e", "--records=7", "--duration=2s", "--fields=3", "--field-bytes=100", "--distribution=own",
        "--scan-longest=100", "--timeout=30s",
    ]  # fmt: skip
    assert not any(flag.startswith("--duration") for flag in as_flags(ycsb.flags(options, "check")))


def test_its_metrics_are_declared() -> None:
    summary = {"duration_ns": 2_000_000_000, "operations": 10, "rows": 30, "errors": 1}
    found = {one.metric: one.value for one in ycsb.measurements("e", summary, [])}
    assert found == {
        "operations_per_second": 5,
        "operations": 10,
        "records_per_second": 15,
        "errors": 1,
        "retries": 0,
    }
    assert found.keys() <= set(metrics("ycsb") or ())
    assert describe("rmw_latency_p99").title == "99th percentile of latency of read-modify-writes"


def test_zipfian_ranks_follow_the_law() -> None:
    draw, ranks = random.Random(1), ycsb.Zipfian()
    found = Counter(ranks.next(1000, draw.random()) for _ in range(50_000))
    zeta = sum(1 / rank**ycsb.SKEW for rank in range(1, 1001))
    assert found[0] == pytest.approx(50_000 / zeta, rel=0.05)
    assert found[1] == pytest.approx(50_000 / 2**ycsb.SKEW / zeta, rel=0.05)


def test_choices_are_records_that_are_there() -> None:
    held = 100
    for distribution in ("zipfian", "latest", "uniform"):
        chosen = list(islice(ycsb.choices(distribution, 150, lambda: held, random.Random(1)), 5000))
        assert set(chosen) <= set(range(held))
        [(most, count)] = Counter(chosen).most_common(1)
        assert (count > 150) == (distribution != "uniform")
        assert distribution != "latest" or most == held - 1


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    opened = open_database(tmp_path / "db", {})
    yield opened
    opened.close()


def asked(folder: Path, do: str, **more: Any) -> dict[str, Any]:
    plain = {
        "do": do, "records": 60, "fields": 3, "field-bytes": 30, "distribution": "own", "scan-longest": 10,
        "timeout": 10.0, "workers": 3, "kept": str(folder / "kept"),
    }  # fmt: skip
    return {**plain, **more}


def did(engine: SQLite, request: dict[str, Any]) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    ycsb.serve(engine, request, "sqlite 3", events.append)
    return events


def test_every_core_workload_does_its_operations(engine: SQLite, tmp_path: Path) -> None:
    assert did(engine, asked(tmp_path, "load"))[-1]["operations"] == 60
    held = 60
    for do in "abcdef":
        events = did(engine, asked(tmp_path, do, operations=100))
        assert (events[-1]["operations"], events[-1]["errors"]) == (100, 0)
        counts = {one["operation"]: one["count"] for one in events if one["type"] == "histogram"}
        assert counts.keys() == ycsb.CORE[do][0].keys()
        held += counts.get("insert", 0)
        assert (tmp_path / "kept").read_text() == f"{held}\n"
    assert did(engine, asked(tmp_path, "check"))[-1]["operations"] == held > 60
    timed = did(engine, asked(tmp_path, "a", duration=0.2))[-1]
    assert timed["window_ns"] == 200_000_000
    assert timed["operations"] > 0


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE usertable SET field1 = field2", "a value that was never written"),
        ("UPDATE usertable SET field0 = '0.x'", "a value that was never written"),
        ("DELETE FROM usertable WHERE rowid % 2", "no record of a key that it acknowledged"),
    ],
)
def test_a_record_that_is_wrong_or_gone_is_found(
    engine: SQLite, tmp_path: Path, statement: str, fault: str
) -> None:
    did(engine, asked(tmp_path, "load"))
    engine.connect(5.0).execute(statement)
    events: list[dict[str, Any]] = []
    with pytest.raises(FailedError, match="operations failed"):
        ycsb.serve(engine, asked(tmp_path, "check"), "sqlite 3", events.append)
    assert any(fault in one["message"] for one in events if one["type"] == "error")


def test_a_second_load_is_refused(engine: SQLite, tmp_path: Path) -> None:
    did(engine, asked(tmp_path, "load"))
    with pytest.raises(Exception, match="already exists"):
        did(engine, asked(tmp_path, "load"))


def test_other_engines_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="keeps no records of ycsb; use SQLite"):
        ycsb.serve(object(), asked(tmp_path, "load"), "files 1", lambda _: None)  # type: ignore[arg-type]
