"""Reads of bars by the Python client: packed and digested like benchload's, counted, checked."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.declare import plugin
from benchbook.workers.engine import FailedError

bars = plugin.module("kline-mysql-vs-kv", "bars")

BARS = [(1578303060 + 60 * minute, "7", 10, 11, 12, 9, 100, 5, 3) for minute in range(3)]


def request(**more: Any) -> dict[str, Any]:
    first, last = BARS[0][0], BARS[-1][0]
    return {"id": 0, "type": "long", "stock": 7, "from": first, "to": last, "bars": 3, **more}


def write(folder: Path, *lines: dict[str, Any]) -> str:
    file = folder / "requests.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(file)


def asked(folder: Path, *lines: dict[str, Any], answers: int | None = None) -> dict[str, Any]:
    return {
        "requests": write(folder, *lines),
        "workers": 3,
        "duration": 0.5,
        "warmup": 2,
        "answers": answers,
    }


def test_a_packed_bar_is_that_of_benchload():
    assert (
        bars.packed(BARS[0]).hex()
        == "0700" + "54fe125e" + "0a0000" + "0b0000" + "0c0000" + "090000" + "64000000" + "05000000" + "0300"
    )


def engine(found: Any) -> Any:
    return SimpleNamespace(bar_reader=lambda: lambda _: found)


def test_reads_are_counted(tmp_path):
    events: list[dict[str, Any]] = []
    bars.serve(engine(BARS), asked(tmp_path, request()), "x 1", events.append)
    summary = events[-1]
    assert summary["type"] == "summary"
    assert summary["operations"] > 0
    assert summary["rows"] == 3 * summary["operations"]
    assert {one.get("operation") for one in events if one["type"] == "histogram"} == {"warmup", "query"}


def test_another_number_of_bars_is_a_failure(tmp_path):
    events: list[dict[str, Any]] = []
    with pytest.raises(FailedError, match="reads failed"):
        bars.serve(engine(BARS[:2]), asked(tmp_path, request()), "x 1", events.append)
    (error,) = {one["message"] for one in events if one["type"] == "error" and one["kind"] == "answer"}
    assert error == "a long read returned 2 bars, but the dataset has 3 there"


def test_answers_are_held_against_the_dataset(tmp_path):
    digest = hashlib.sha256(b"".join(bars.packed(bar) for bar in BARS)).hexdigest()
    events: list[dict[str, Any]] = []
    check = asked(tmp_path, request(sha256=digest), answers=1)
    bars.serve(engine(BARS[::-1]), check, "x 1", events.append)
    (answer,) = [one for one in events if one["type"] == "answer"]
    assert answer["rows"] == [[3, digest]]
    wrong = [(*BARS[0][:2], 99, *BARS[0][3:]), *BARS[1:]]
    with pytest.raises(FailedError, match="differ from the dataset's"):
        bars.serve(engine(wrong), check, "x 1", events.append)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_engines_read_on_connections_of_their_own(engine, tmp_path):
    from importlib import import_module

    import pyarrow as pa

    module = import_module(f"benchbook.workers.{engine}_engine")
    opened = module.open_database(tmp_path / "file", {})
    names = ["time", *bars.COLUMNS]
    columns = list(zip(*BARS, strict=True))
    times = pa.array([second * bars.NS for second in columns[0]], pa.timestamp("ns", "UTC"))
    batch = pa.RecordBatch.from_arrays(
        [times, pa.array(columns[1]), *(pa.array(one, pa.int64()) for one in columns[2:])], names
    )
    opened.create("finance", batch.schema)
    opened.insert("finance", opened.convert(batch))
    asks = [bars.reader_of(opened)() for _ in range(2)]
    one = bars.Request(0, "short", 7, BARS[1][0], BARS[1][0], 1, "")
    for ask in asks:
        assert [bars.packed(bar) for bar in ask(one)] == [bars.packed(BARS[1])]
    opened.close()


def test_an_engine_that_reads_no_bars_says_so():
    with pytest.raises(FailedError, match="does not read bars"):
        bars.reader_of(SimpleNamespace(dialect="pandas"))
