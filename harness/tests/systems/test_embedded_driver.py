"""The driver and client of embedded systems, with the real SQLite and a script in place of benchload."""

import os
import signal
import sqlite3
import sys
import threading
from dataclasses import replace

import pytest

from benchbook.errors import TrialFailed
from benchbook.process.launch import Program
from benchbook.systems.driver import DatasetRequest, LoadRequest, Place, QueryRequest, TableCount
from benchbook.systems.sqlite import driver

BENCHLOAD = """#!/bin/sh
''''exec "{python}" "$0" "$@" # '''
import sys, time
import pyarrow as pa
schema = pa.schema([("time", pa.timestamp("ns", "UTC")), ("hostname", pa.string()), ("x", pa.float64())],
                   metadata={{"table": "cpu"}})
rows = int(sys.argv[sys.argv.index("--batch-rows") + 1])
for number in range(int(sys.argv[sys.argv.index("--batches") + 1])):
    one = pa.record_batch([pa.array(range(rows), pa.timestamp("ns", "UTC")), ["h"] * rows, [1.0] * rows], schema=schema)
    with pa.ipc.new_stream(sys.stdout.buffer, schema) as stream:
        stream.write_batch(one)
    sys.stdout.flush()
    time.sleep(float({pause}))
"""


@pytest.fixture
def place(tmp_path):
    for name in ("data", "config", "logs"):
        (tmp_path / name).mkdir()
    program = Program("sqlite", sqlite3.sqlite_version, "python")
    return Place(
        program,
        "vanilla",
        {"synchronous": "OFF"},
        tmp_path / "data",
        tmp_path / "config",
        tmp_path / "logs",
        processes=tmp_path / "processes",
    )


@pytest.fixture
def started(place):
    found = driver(place)
    found.configure()
    found.start()
    assert found.ready()
    assert found.ready()
    yield found
    found.stop()


@pytest.fixture
def benchload(tmp_path):
    def make(pause=0):
        program = tmp_path / "benchload"
        program.write_text(BENCHLOAD.format(python=sys.executable, pause=pause))
        program.chmod(0o755)
        return program

    return make


def request(batches, rows=10, workers=1):
    tables = {"cpu": TableCount(batches * rows)}
    return LoadRequest(DatasetRequest("devops", ("--batches", str(batches)), tables), workers, rows)


def test_a_trial_loads_counts_measures_and_ends(started, place, benchload):
    started.prepare()
    client = started.client(benchload())
    events = list(client.load(request(3)))
    # A load of more than a second has more than one interval.
    assert list(dict.fromkeys(one["type"] for one in events)) == ["start", "interval", "histogram", "summary"]
    assert events[-1]["rows_unsent"] == 0
    started.settle()
    assert started.count() == {"cpu": TableCount(30, {"x": 30})}
    assert started.version() == sqlite3.sqlite_version
    size = started.size()
    assert size["data"] > 0
    assert size["wal"] == size["other"] == 0
    pid = started.worker.pid
    assert (place.processes / f"{pid}.json").exists()
    started.stop()
    assert started.processes() == []
    assert not (place.processes / f"{pid}.json").exists()
    started.stop()


def test_client_and_system_are_the_same_processes(started, benchload):
    client = started.client(benchload())
    assert client.shares_process
    assert started.shares_process
    assert client.processes() == started.processes() != []


def test_the_configuration_is_the_arms_settings_alone(place):
    texts = driver(place).configure()
    assert list(texts) == ["settings.json"]
    assert '"synchronous": "OFF"' in texts["settings.json"]
    assert str(place.data) not in texts["settings.json"]
    assert (place.config / "settings.json").read_text() == texts["settings.json"]


def test_a_database_that_holds_tables_is_refused(started, benchload):
    list(started.client(benchload()).load(request(1)))
    with pytest.raises(TrialFailed, match="already holds the tables cpu"):
        started.prepare()


def test_a_setting_that_the_engine_refuses_is_told(place):
    place.settings["journal_mood"] = "WAL"
    one = driver(place)
    one.configure()
    one.start()
    with pytest.raises(TrialFailed, match=r'SQLite cannot open: .*no pragma "journal_mood"'):
        one.ready()
    one.stop()


@pytest.mark.parametrize("workers", [0, 2])
def test_more_than_one_worker_is_refused(started, benchload, tmp_path, workers):
    client = started.client(benchload())
    with pytest.raises(TrialFailed, match="has one worker"):
        client.load(request(1, workers=workers))
    with pytest.raises(TrialFailed, match="Set workers = 1"):
        client.query(QueryRequest(tmp_path / "q", workers=workers))


def test_a_pace_is_refused(started, benchload):
    with pytest.raises(TrialFailed, match="The option `tick` is set"):
        started.client(benchload()).load(replace(request(1), tick_seconds=1.0))


def test_a_killed_worker_is_told(started):
    os.kill(started.worker.pid, signal.SIGKILL)
    with pytest.raises(TrialFailed, match="the SQLite worker was ended by SIGKILL"):
        started.settle()
    assert started.processes() == []


def test_cancelling_kills_the_worker_at_work_and_only_then(started, benchload):
    client = started.client(benchload(pause=1))
    client.cancel()
    assert started.version()
    threading.Timer(0.5, client.cancel).start()
    with pytest.raises(TrialFailed, match="The load was cancelled"):
        list(client.load(request(60)))


def test_events_that_nobody_reads_never_answer_the_next_request(started, benchload):
    events = started.client(benchload()).load(request(3))
    next(events)
    events.close()
    with pytest.raises(TrialFailed, match="was ended by SIGKILL"):
        started.version()


def test_the_words_of_a_refused_load_reach_the_harness(started, benchload, place):
    sqlite3.connect(place.data / "benchbook.sqlite").execute("CREATE TABLE cpu (hostname, time)")
    with pytest.raises(TrialFailed, match=r"SQLite cannot load: .*2 columns but 3 values"):
        list(started.client(benchload()).load(request(2)))
    assert started.version()
