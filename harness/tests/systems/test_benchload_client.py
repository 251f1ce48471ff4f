"""The client of servers, with scripts in place of benchload."""

import json
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import DatasetRequest, LoadRequest, Operations, QueryRequest

DATASET = DatasetRequest("devops", ("--seed", "1"), {})
SUMMARY = '{"v":1,"type":"summary","rows":3}'


@pytest.fixture
def client(tmp_path):
    """Return a maker of clients whose benchload is a shell script."""

    def make(script):
        program = tmp_path / "benchload"
        program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\n{script}\n')
        program.chmod(0o755)
        return BenchloadClient(
            program,
            target="influx",
            url=lambda: "http://127.0.0.1:1",
            database="benchbook",
            log=tmp_path / "benchload.log",
            registry=tmp_path / "processes",
        )

    return make


def test_a_load_is_asked_for_by_flags_and_its_events_are_yielded(client, tmp_path):
    one = client(f"echo '{SUMMARY}'")
    events = list(one.load(LoadRequest(DATASET, workers=2, batch_rows=500, gzip=True, timeout_seconds=2.5)))
    assert events == [json.loads(SUMMARY)]
    assert (tmp_path / "arguments").read_text().strip() == (
        "load devops --seed 1 --target influx --url http://127.0.0.1:1 --database benchbook "
        "--workers 2 --batch-rows 500 --gzip --timeout 2.5s --retries 5"
    )
    assert one.processes() == []
    assert list((tmp_path / "processes").glob("*")) == []


def test_queries_are_asked_for_by_flags(client, tmp_path):
    one = client(f"echo '{SUMMARY}'")
    list(one.query(QueryRequest(Path("q.jsonl"), workers=3, warmup=7)))
    assert (tmp_path / "arguments").read_text().strip() == (
        "query --target influx --url http://127.0.0.1:1 --database benchbook "
        "--queries q.jsonl --workers 3 --warmup 7 --timeout 30s"
    )


def test_answers_are_asked_for_by_flags(client, tmp_path):
    list(client(f"echo '{SUMMARY}'").query(QueryRequest(Path("q.jsonl"), answers=20)))
    assert "--answers --limit 20" in (tmp_path / "arguments").read_text()


def test_a_failure_is_told_in_the_words_of_the_last_error(client):
    error = '{"v":1,"type":"error","message":"database not found"}'
    events = client(f"echo '{error}'; echo '{SUMMARY}'; exit 1").load(LoadRequest(DATASET, 1, 10))
    assert next(events)["type"] == "error"
    assert next(events)["type"] == "summary"
    with pytest.raises(TrialFailed, match="benchload load exited with code 1: database not found"):
        next(events)


def test_what_the_server_said_is_told_before_what_happened_to_a_connection(client):
    lines = [
        f'{{"v":1,"type":"error","kind":"{kind}","message":"{words}"}}'
        for kind, words in (("server", "input/output error"), ("connection", "the client was interrupted"))
    ]
    script = "; ".join(f"echo '{line}'" for line in [*lines, SUMMARY])
    with pytest.raises(TrialFailed, match=r"exited with code 1: input/output error"):
        list(client(f"{script}; exit 1").load(LoadRequest(DATASET, 1, 10)))


def test_a_failure_without_an_error_event_is_told_in_the_words_of_stderr(client):
    with pytest.raises(TrialFailed, match="exited with code 2: --workers must be at least 1"):
        list(client("echo --workers must be at least 1 >&2; exit 2").load(LoadRequest(DATASET, 1, 10)))


@pytest.mark.parametrize("line", ["not json", '{"v":1,"type":"summ', "[1]", '{"v":1}'])
def test_a_broken_line_is_a_failure_and_ends_the_process(client, line, tmp_path):
    with pytest.raises(TrialFailed, match=r"wrote a line (that is not JSON|of JSON without the key `type`)"):
        list(client(f"echo '{line}'; sleep 60").load(LoadRequest(DATASET, 1, 10)))
    assert list((tmp_path / "processes").glob("*")) == []


def test_another_version_of_the_events_is_refused(client):
    with pytest.raises(TrialFailed, match="writes its output in version 2"):
        list(client('echo \'{"v":2,"type":"start"}\'').load(LoadRequest(DATASET, 1, 10)))


def test_cancelling_from_another_thread_ends_the_iteration(client):
    one = client(f"echo '{SUMMARY}'; sleep 60")
    events = one.load(LoadRequest(DATASET, 1, 10))
    next(events)
    assert len(one.processes()) >= 1
    threading.Timer(0.1, one.cancel).start()
    with pytest.raises(TrialFailed, match="was cancelled"):
        list(events)
    one.cancel()  # with nothing running it does nothing


def test_listening_no_more_ends_the_process(client):
    one = client(f"echo '{SUMMARY}'; sleep 60")
    events = one.load(LoadRequest(DATASET, 1, 10))
    next(events)
    events.close()
    assert one.processes() == []


def test_what_lasts_for_a_time_is_asked_for_by_flags(client, tmp_path):
    one, arguments = client(f"echo '{SUMMARY}'"), tmp_path / "arguments"
    list(one.load(LoadRequest(DATASET, 1, 10, lasts_seconds=20, whole=True)))
    assert arguments.read_text().strip().endswith("--duration 20s --whole")
    list(one.load(LoadRequest(DATASET, 1, 10, lasts_seconds=0.5)))
    assert arguments.read_text().strip().endswith("--duration 0.5s")
    list(one.query(QueryRequest(Path("q.jsonl"), lasts_seconds=5)))
    assert "--duration 5s" in arguments.read_text()
    flags = {
        "do": "put",
        "kept": Path("kept"),
        "duration": timedelta(seconds=1.5),
        "mix": None,
        "undecoded": True,
    }
    list(one.perform(Operations("blob", flags, ("--seed=1",))))
    asked = arguments.read_text()
    assert asked.startswith("blob --seed=1 --target")
    assert asked.strip().endswith("--do=put --kept=kept --duration=1.5s --undecoded")
