"""Two clients presented as one: sums, merged histograms, and the first failure ends the other."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from benchbook.errors import TrialFailed
from benchbook.measure import histogram
from benchbook.systems.driver import DatasetRequest, LoadRequest
from benchbook.systems.several_clients import SeveralClients

REQUEST = LoadRequest(DatasetRequest("iot", (), {}), workers=1, batch_rows=10)


def encoded(*values):
    held = HdrHistogram(1, 3_600_000_000_000, 3)
    for value in values:
        held.record_value(value)
    return held.encode().decode()


def events(seconds, rate, last_ns=500_000_000, **summary):
    yield {"v": 1, "type": "start", "workload": "load", "workers": 3, "rows": seconds * rate}
    for index in range(seconds):
        yield {
            "v": 1, "type": "interval", "operation": "write", "index": index, "start_ns": index * 10**9,
            "duration_ns": 10**9 if index < seconds - 1 else last_ns, "operations": 1, "rows": rate,
            "values": rate * 2, "bytes": 5, "errors": 0, "histogram": encoded(1000 * (index + 1)),
        }  # fmt: skip
    yield {
        "v": 1, "type": "histogram", "operation": "write", "kind": "service", "unit": "ns", "count": seconds,
        "min_ns": 1000, "mean_ns": 2000.0, "max_ns": 1000 * seconds,
        "encoded": encoded(*(1000 * (index + 1) for index in range(seconds))),
    }  # fmt: skip
    yield {
        "v": 1,
        "type": "error",
        "kind": "server",
        "status": 500,
        "message": "full",
        "operations": 1,
        "rows": 10,
    }
    yield {
        "v": 1, "type": "summary", "workload": "load", "duration_ns": seconds * 10**9, "operations": seconds,
        "rows": seconds * rate, "values": seconds * rate * 2, "rows_refused": 10, "client_cpu_ns": 7,
        "bottleneck": "server", **summary,
    }  # fmt: skip


class Client:
    shares_process = False

    def __init__(self, stream):
        self.stream = stream
        self.started_in = None
        self.cancelled = False

    def load(self, request):
        self.started_in = threading.current_thread()
        self.request = request
        yield from self.stream

    def processes(self):
        return [id(self)]

    def cancel(self):
        self.cancelled = True


def load(*streams):
    clients = [Client(stream) for stream in streams]
    found = list(SeveralClients(clients, ["benchbook", "benchbook_2"]).load(REQUEST))
    return clients, found


def of(found, kind):
    return [event for event in found if event["type"] == kind]


def test_intervals_are_summed_and_those_that_one_client_did_not_write_through_are_told():
    clients, found = load(events(3, 100), events(5, 10))
    intervals = of(found, "interval")
    assert [one["index"] for one in intervals] == [0, 1, 2, 3, 4]
    assert [one["rows"] for one in intervals] == [110, 110, 110, 10, 10]
    assert [one["whole"] for one in intervals] == [True, True, False, False, False]
    assert histogram.decode(intervals[0]["histogram"]).count == 2
    assert all(client.started_in is threading.main_thread() for client in clients)


def test_the_summary_is_of_all_and_keeps_each():
    _, found = load(events(3, 100), events(5, 10))
    [summary] = of(found, "summary")
    assert found[-1] is summary
    assert summary["rows"] == 350
    assert summary["duration_ns"] == 5 * 10**9
    assert summary["rows_per_second"] == 70
    assert [one["rows"] for one in summary["clients"]] == [300, 50]
    assert [one["database"] for one in summary["clients"]] == ["benchbook", "benchbook_2"]
    [start] = of(found, "start")
    assert (start["clients"], start["workers"]) == (2, 6)


def test_every_count_of_the_summary_is_a_sum():
    counted = (
        "operations", "errors", "rows", "values", "rows_refused", "rows_unsent", "bytes", "wire_bytes", "retries",
        "client_cpu_ns", "generator_stall_ns", "record_stall_ns", "drained_operations", "drained_rows",
    )  # fmt: skip
    _, found = load(events(1, 1, **dict.fromkeys(counted, 3)), events(1, 1, **dict.fromkeys(counted, 4)))
    [summary] = of(found, "summary")
    assert {name: summary[name] for name in counted} == dict.fromkeys(counted, 7)


def test_histograms_are_merged_and_equal_errors_are_counted_together():
    _, found = load(events(3, 100), events(5, 10))
    [held] = of(found, "histogram")
    assert held["count"] == 8
    assert histogram.decode(held["encoded"]).count == 8
    assert held["max_ns"] == 5000
    [error] = of(found, "error")
    assert (error["operations"], error["rows"]) == (2, 20)


def test_the_first_failure_ends_the_other_client():
    def failing():
        yield {"v": 1, "type": "start", "workload": "load"}
        raise TrialFailed("benchload load exited with code 1: gone")

    with pytest.raises(TrialFailed, match="gone"):
        load(failing(), events(5, 10))


def test_a_client_without_a_summary_is_named():
    def silent():
        yield {"v": 1, "type": "start", "workload": "load"}

    with pytest.raises(TrialFailed, match="benchbook_2 ended without a summary"):
        load(events(2, 10), silent())


def test_every_client_keeps_its_operations_in_a_file_of_its_own():
    clients = [Client(events(1, 10)), Client(events(1, 10))]
    request = replace(REQUEST, record=Path("operations/load.parquet"))
    list(SeveralClients(clients, ["benchbook", "benchbook_2"]).load(request))
    assert [client.request.record.name for client in clients] == ["load~0.parquet", "load~1.parquet"]
