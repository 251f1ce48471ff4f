"""The workload fio: its command, and its JSON as measurements, intervals and a histogram."""

from pathlib import Path

from benchbook.measure import histogram
from benchbook.workloads import fio
from benchbook.workloads.fio import FioOptions

NONE = {"total_ios": 0}
READ = {
    "total_ios": 1000, "bw_bytes": 1000, "iops": 2.5, "io_bytes": 4096, "runtime": 500,
    "clat_ns": {
        "min": 1000, "max": 9000, "mean": 3000.0, "bins": {"1000": 3, "9000": 1},
        "percentile": dict.fromkeys(fio.PERCENTILES.values(), 1000),
    },
}  # fmt: skip


def test_a_job_becomes_measurements_in_si_units():
    found = {
        one.metric: (one.value, one.unit) for one in fio.measurements("r", {"read": READ, "write": NONE})
    }
    assert found["bytes_per_second"] == (1000.0, "B/s")
    assert found["seconds"] == (0.5, "s")
    assert found["latency_max"] == (9e-6, "s")
    assert found["latency_p50"] == (1e-6, "s")


def test_of_a_job_that_does_both_writes_have_names_of_their_own():
    names = {one.metric for one in fio.measurements("r", {"read": READ, "write": READ})}
    assert {"bytes_per_second", "write_bytes_per_second", "write_latency_p99"} <= names


def test_the_histogram_and_the_log_become_events(tmp_path):
    log = tmp_path / "x_bw.log"
    log.write_text("250, 4096, 0, 0, 0\n500, 0, 0, 0, 0\n")
    events = list(fio.events({"read": READ, "write": NONE}, log))
    assert [one["type"] for one in events] == ["interval", "interval", "histogram"]
    assert events[0]["bytes"] == 1 << 20
    assert events[1]["start_ns"] == 250_000_000
    assert events[1]["bytes"] == 0
    assert histogram.decode(events[2]["encoded"]).count == 4


def test_options_become_flags():
    flags = fio.arguments(FioOptions(rw="randrw", runs_for="3s", refill_buffers=True), "x", Path("/d"))
    assert {
        "--time_based",
        "--runtime=3s",
        "--refill_buffers",
        "--rwmixread=50",
        "--output-format=json+",
    } <= set(flags)
