"""The worker as a process: requests in, events out."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from benchbook.measure.answered import compared

HARNESS = Path(__file__).resolve().parents[2]


class Talk:
    """A worker process with methods for requests."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchbook.workers"],
            env={**os.environ, "PYTHONPATH": str(HARNESS)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, do, **more):
        self.process.stdin.write(json.dumps({"do": do, **more}) + "\n")
        self.process.stdin.flush()
        events = []
        while not events or events[-1]["type"] != "reply":
            events.append(json.loads(self.process.stdout.readline()))
        assert all(one["v"] == 1 for one in events)
        return events

    def open(self, name, path):
        (reply,) = self("open", engine=name, path=str(path), settings={})
        assert reply["ok"], reply


@pytest.fixture
def worker():
    found = Talk()
    yield found
    found.process.kill()
    found.process.wait()
    found.process.stdout.close()


@pytest.fixture
def load(generator):
    def make(batches, after="", rows=None):
        return {
            "command": generator(batches, after),
            "batch_rows": 10,
            "rows": batches * 10 if rows is None else rows,
            "timeout_seconds": 30,
        }

    return make


def queries(folder, **changes):
    start = 1_451_606_400 * 10**9
    line = {
        "type": "t",
        "table": "cpu",
        "field": "usage_user",
        "aggregate": "max",
        "bucket_ns": 10**10,
        "hosts": [],
        "start_ns": start,
        "end_ns": start + 10**11,
        "group_by_host": False,
    } | changes
    file = folder / "queries.jsonl"
    file.write_text("".join(json.dumps({"id": number, **line}) + "\n" for number in range(6)))
    return {"queries": str(file), "warmup": 0, "answers": None, "timeout_seconds": 30}


@pytest.mark.parametrize("name", ["duckdb", "sqlite"])
def test_a_whole_trial(worker, load, tmp_path, name):
    worker.open(name, tmp_path / "file")
    events = worker("load", **load(5))
    # A load of more than a second has more than one interval.
    kinds = list(dict.fromkeys(one["type"] for one in events))
    assert kinds == ["start", "interval", "histogram", "summary", "reply"]
    assert (events[0]["workload"], events[0]["target"], events[0]["rows"]) == ("load", name, 50)
    summary = events[-2]
    assert (summary["operations"], summary["rows"], summary["values"]) == (5, 50, 99)
    assert (summary["rows_unsent"], summary["rows_refused"], summary["errors"]) == (0, 0, 0)
    assert worker("settle")[-1]["ok"]
    assert worker("count")[-1]["tables"] == {"cpu": {"rows": 50, "fields": {"usage_user": 50, "count": 49}}}

    events = worker("query", **queries(tmp_path) | {"warmup": 8})
    kinds = [(one["type"], one.get("operation")) for one in events]
    assert kinds == [
        ("start", None),
        ("interval", "warmup"),
        ("histogram", "warmup"),
        ("interval", "query"),
        ("histogram", "query"),
        ("answered", None),
        ("summary", None),
        ("reply", None),
    ]
    assert (events[2]["count"], events[4]["count"], events[6]["operations"]) == (8, 6, 6)

    timed = events[5]["answers"]
    assert [(one["id"], one["answers"]) for one in timed] == [(0, 3), (1, 3), *((n, 2) for n in range(2, 6))]

    events = worker("query", **queries(tmp_path) | {"answers": 2, "also": [1, 4]})
    assert [one["type"] for one in events] == ["start", "answer", "answer", "answered", "summary", "reply"]
    assert [one["id"] for one in events[3]["answers"]] == [0, 1, 4]
    assert compared(timed, events[3]["answers"]) == (8, 8)
    assert events[1]["columns"] == ["time_ns", "host", "value"]
    assert [row[2] for row in events[1]["rows"]] == [9.0, 19.0, 29.0, 39.0, 49.0]
    assert len(events[4]["digest"]) == 64


def test_a_refused_batch_ends_the_load_with_the_engines_words(worker, load, tmp_path):
    worker.open("sqlite", tmp_path / "file")
    # A table with another schema blocks the load.
    sqlite3.connect(tmp_path / "file").execute("CREATE TABLE cpu (hostname, time)")
    events = worker("load", **load(5))
    assert [one["type"] for one in events] == ["start", "interval", "histogram", "error", "summary", "reply"]
    assert (events[3]["kind"], events[3]["rows"], events[3]["operations"]) == ("refused", 10, 1)
    summary = events[4]
    assert (summary["rows"], summary["rows_refused"], summary["rows_unsent"]) == (0, 10, 40)
    assert events[5]["ok"] is False
    assert events[5]["message"] == events[3]["message"]


def test_failing_queries_are_counted_and_the_rest_is_run(worker, load, tmp_path):
    worker.open("duckdb", tmp_path / "file")
    worker("load", **load(1))
    events = worker("query", **queries(tmp_path, field="nothing"))
    (error,) = [one for one in events if one["type"] == "error"]
    assert (error["operations"], error["kind"]) == (6, "refused")
    assert events[-2]["errors"] == 6
    assert "nothing" in events[-1]["message"]


def test_a_generator_that_fails_is_told(worker, load, tmp_path):
    worker.open("sqlite", tmp_path / "file")
    events = worker("load", **load(1, after="print('no such dataset', file=sys.stderr); sys.exit(2)"))
    assert events[-1]["ok"] is False
    assert "ended with code 2: no such dataset" in events[-1]["message"]


def test_a_request_before_the_database_is_open_is_refused(worker):
    (reply,) = worker("settle")
    assert reply == {"v": 1, "type": "reply", "ok": False, "message": "ValueError: no database is open"}


def test_the_end_of_requests_is_the_end_of_the_worker(worker, tmp_path):
    worker.open("duckdb", tmp_path / "file")
    worker.process.stdin.close()
    assert worker.process.wait(10) == 0


def test_only_the_library_of_the_engine_is_imported(tmp_path):
    script = (
        "import sys; from pathlib import Path; from benchbook.workers import __main__\n"
        "from benchbook.workers.engine import open_engine\n"
        "open_engine('sqlite', Path(sys.argv[1]), {}).close()\n"
        "print([name for name in ('duckdb', 'pyarrow', 'polars', 'pydantic', 'psutil') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "file")],
        env={**os.environ, "PYTHONPATH": str(HARNESS)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_its_imports_leave_out_what_only_the_harness_needs():
    """The memory of a worker is part of what is measured."""
    modules = ("__main__", "stream", "query", "blob", "sqlite_engine", "duckdb_engine")
    script = "".join(f"import benchbook.workers.{name}\n" for name in modules)
    script += "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=HARNESS, capture_output=True, text=True, check=True
    )
    heavy = {"altair", "dask", "docker", "pandas", "polars", "pydantic", "requests", "scipy", "tornado"}
    assert not heavy & set(run.stdout.split())


ENDLESS = (
    "import itertools, os, signal\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
    """
for number in itertools.count(batches):
    one = batch(number * 10, 10)
    with pa.ipc.new_stream(sys.stdout.buffer, one.schema) as stream:
        stream.write_batch(one)
"""
)


@pytest.mark.parametrize("name", ["duckdb", "sqlite"])
def test_a_load_for_a_time_continues_past_its_dataset(worker, load, tmp_path, name):
    worker.open(name, tmp_path / "file")
    (start, *_, summary, reply) = worker("load", **load(2, ENDLESS), lasts_seconds=0.3, whole=True)
    assert reply["ok"], reply
    assert "rows" not in start
    assert summary["rows"] > 20
    assert (summary["window_ns"], summary["rows_unsent"]) == (300_000_000, 0)
    [counted] = worker("count")
    assert counted["tables"]["cpu"]["rows"] == summary["rows"]


@pytest.mark.parametrize("whole", [False, True])
def test_a_whole_load_continues_after_its_time_until_the_dataset_is_complete(worker, load, tmp_path, whole):
    worker.open("sqlite", tmp_path / "file")
    (*_, summary, _) = worker("load", **load(2, ENDLESS, rows=2000), lasts_seconds=1e-6, whole=whole)
    assert (summary["rows"] >= 2000) == whole
    assert summary["window_ns"] == 1000
    assert summary["drained_rows"] == summary["rows"]
    [counted] = worker("count")
    assert counted["tables"]["cpu"]["rows"] == summary["rows"]


def test_queries_for_a_time_are_asked_again(worker, load, tmp_path):
    worker.open("sqlite", tmp_path / "file")
    worker("load", **load(2))
    (start, *_, summary, _) = worker("query", **queries(tmp_path), lasts_seconds=0.2)
    assert summary["operations"] > 6
    assert summary["window_ns"] == 200_000_000
    assert "operations" not in start


def test_it_needs_only_the_standard_library():
    """A worker in a system's own environment finds only that system's packages."""
    modules = [f"benchbook.workers.{name}" for name in ("__main__", "blob", "query", "sqlite_engine")]
    imports = f"import {', '.join(modules)}; from benchbook.declare import plugin"
    bars = "benchbook_experiments.kline_mysql_vs_kv.bars"
    asked = [sys.executable, "-S", "-c", f"{imports}; plugin.imported({bars!r})"]
    subprocess.run(asked, env={"PYTHONPATH": str(HARNESS)}, check=True)
