"""Telemetry of real child processes with known usage."""

import os
import subprocess
import sys
import textwrap
import time

import pytest

from benchbook.measure.ledger import SUMMARY, UNITS
from benchbook.measure.sampler import OVERHEAD, Phase, Telemetry
from benchbook.process.wait import until

MEBIBYTE = 1 << 20

BURN = """
import time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
"""


@pytest.fixture
def start():
    """Start Python children that print a line when their work is done, and end them afterwards."""
    started = []

    def run(code: str) -> subprocess.Popen:
        program = BURN + textwrap.dedent(code)
        process = subprocess.Popen([sys.executable, "-S", "-c", program], stdin=-1, stdout=-1)
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def said(process):
    assert process.stdout.readline().strip() == b"done"


def told(process):
    process.stdin.write(b"\n")
    process.stdin.flush()


def cpu(samples, scope):
    """Cumulative CPU seconds of a scope at each moment, in order."""
    moments = {}
    for sample in samples:
        if sample["scope"] == scope and sample["metric"].startswith("cpu_"):
            moments.setdefault((sample["seconds"], sample["phase"]), []).append(sample["value"])
    return [sum(values) for values in moments.values()]


def test_cpu_of_server_and_client_are_told_apart(start, tmp_path):
    samples = []
    server = start("input(); burn(0.5); print('done', flush=True); input()")
    client = start("input(); burn(0.2); print('done', flush=True); input()")
    with Telemetry(lambda: [server.pid], lambda: [client.pid], tmp_path, samples.extend, 0.1) as telemetry:
        telemetry.phase("work")
        told(server), told(client)
        said(server), said(client)
        telemetry.phase("rest")
    work, rest = telemetry.summary()["work"], telemetry.summary()["rest"]
    assert 0.45 <= work["server_cpu_seconds"] <= 0.8
    assert 0.15 <= work["client_cpu_seconds"] <= 0.4
    assert rest["server_cpu_seconds"] <= 0.1
    assert list(work) == list(SUMMARY)


def test_children_that_come_and_go_between_samples_are_counted_once(start, tmp_path):
    samples = []
    server = start("""
        import os
        input()
        for _ in range(4):
            pid = os.fork()
            if pid == 0:
                burn(0.15)
                os._exit(0)
            os.waitpid(pid, 0)
        print('done', flush=True)
        input()
    """)
    with Telemetry(lambda: [server.pid], list, tmp_path, samples.extend, 0.1) as telemetry:
        telemetry.phase("work")
        told(server)
        said(server)
        telemetry.phase("rest")
        time.sleep(0.3)
    total = sum(phase["server_cpu_seconds"] for phase in telemetry.summary().values())
    assert 0.55 <= total <= 0.9
    found = cpu(samples, "server")
    assert found == sorted(found)


def test_a_child_nobody_waits_for_is_kept_as_last_seen(start, tmp_path):
    samples = []
    server = start("""
        import os, signal
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        input()
        if os.fork() == 0:
            burn(0.4)
            time.sleep(0.3)
            os._exit(0)
        try:
            os.wait()
        except ChildProcessError:
            print('done', flush=True)
        input()
    """)
    with Telemetry(lambda: [server.pid], list, tmp_path, samples.extend, 0.05) as telemetry:
        telemetry.phase("work")
        told(server)
        said(server)
        telemetry.phase("rest")
        time.sleep(0.2)
    found = cpu(samples, "server")
    assert found == sorted(found)
    assert 0.35 <= telemetry.summary()["work"]["server_cpu_seconds"] <= 0.6


def test_a_client_too_short_to_be_seen_is_counted(start, tmp_path):
    server = start("print('done', flush=True); input()")
    said(server)
    with Telemetry(lambda: [server.pid], list, tmp_path, lambda _: None, 60.0) as telemetry:
        telemetry.phase("query")
        subprocess.run([sys.executable, "-S", "-c", BURN + "burn(0.1)"], check=True)
        telemetry.phase("rest")
    query = telemetry.summary()["query"]
    assert 0.1 <= query["client_cpu_seconds"] <= 0.4
    assert query["server_cpu_seconds"] <= 0.05


def test_a_client_that_ends_within_the_phase_keeps_its_last_moments(start, tmp_path):
    clients = []
    with Telemetry(list, lambda: [c.pid for c in clients], tmp_path, lambda _: None, 60.0) as telemetry:
        telemetry.phase("load")
        clients.append(start("burn(0.2); print('done', flush=True); burn(0.2)"))
        said(clients[0])
        time.sleep(0.05)
        clients[0].wait()
        telemetry.phase("rest")
        time.sleep(0.2)
    assert 0.38 <= telemetry.summary()["load"]["client_cpu_seconds"] <= 0.7
    assert telemetry.summary()["rest"]["client_cpu_seconds"] <= 0.02


def test_an_embedded_system_is_server_and_client_at_once(start, tmp_path):
    worker = start("input(); burn(0.2); print('done', flush=True); input()")

    def pids():
        return [worker.pid]

    with Telemetry(pids, pids, tmp_path, lambda _: None) as telemetry:
        telemetry.phase("load")
        told(worker)
        said(worker)
        telemetry.phase("stop")
        worker.kill()
        worker.wait()
    load = telemetry.summary()["load"]
    assert load["server_cpu_seconds"] == load["client_cpu_seconds"] >= 0.15
    assert load["server_rss_peak_bytes"] == load["client_rss_peak_bytes"] > 0
    stop = telemetry.summary()["stop"]
    assert stop["server_cpu_seconds"] == stop["client_cpu_seconds"]


def test_memory_that_came_and_went_between_samples_is_the_phases_peak(start, tmp_path):
    server = start("""
        input()
        block = bytearray(64 << 20); del block
        print('done', flush=True); input()
        print('done', flush=True); input()
    """)
    with Telemetry(lambda: [server.pid], list, tmp_path, lambda _: None, 60.0) as telemetry:
        telemetry.phase("big")
        told(server)
        said(server)
        telemetry.phase("small")
        told(server)
        said(server)
    summary = telemetry.summary()
    assert 64 * MEBIBYTE <= summary["big"]["server_rss_peak_bytes"] <= 128 * MEBIBYTE
    assert summary["small"]["server_rss_peak_bytes"] < 64 * MEBIBYTE
    assert summary["big"]["client_rss_peak_bytes"] is None


def test_bytes_written_are_counted_for_the_server(start, tmp_path):
    file = tmp_path / "file"
    server = start(f"""
        import os
        input()
        with open({str(file)!r}, 'wb') as out:
            out.write(bytes(8 << 20)); out.flush(); os.fsync(out.fileno())
        print('done', flush=True); input()
    """)
    with Telemetry(lambda: [server.pid], list, tmp_path, lambda _: None) as telemetry:
        telemetry.phase("write")
        told(server)
        said(server)
        telemetry.phase("rest")
    write = telemetry.summary()["write"]
    if write["server_write_bytes"] in (None, 0):
        pytest.skip("this file system or kernel counts no bytes written")
    assert 8 * MEBIBYTE <= write["server_write_bytes"] <= 9 * MEBIBYTE
    assert telemetry.summary()["rest"]["server_write_bytes"] == 0
    if write["device_write_bytes"] is not None:
        assert write["device_write_bytes"] >= 8 * MEBIBYTE


def test_samples_have_the_declared_shape_and_cover_every_phase(tmp_path):
    samples, handed = [], []

    def sink(lines):
        handed.append(len(lines))
        samples.extend(lines)

    with Telemetry(lambda: [os.getpid()], list, tmp_path, sink) as telemetry:
        telemetry.phase("short")
        time.sleep(0.2)
        telemetry.phase("next")
    assert {tuple(sample) for sample in samples} == {("phase", "seconds", "scope", "metric", "value", "unit")}
    assert {sample["phase"] for sample in samples} == {OVERHEAD, "short", "next"}
    assert all(UNITS[sample["scope"]][sample["metric"]] == sample["unit"] for sample in samples)
    seconds = [sample["seconds"] for sample in samples]
    assert seconds == sorted(seconds)
    short = sorted({sample["seconds"] for sample in samples if sample["phase"] == "short"})
    assert len(short) >= 3, "its begin, its end, and something between"
    assert len(handed) < len(samples)


def test_its_own_cost_is_told(tmp_path):
    with Telemetry(lambda: [os.getpid()], list, tmp_path, lambda _: None, 0.02) as telemetry:
        assert until(lambda: telemetry.cost().samples >= 3, 60)
    cost = telemetry.cost()
    assert 0 < cost.cpu_seconds == telemetry.cost_seconds
    assert cost.longest_seconds > 0


def test_a_sink_that_fails_is_reported_by_the_next_phase(tmp_path):
    def full(_):
        raise OSError(28, "No space left on device")

    telemetry = Telemetry(list, list, tmp_path, full)
    with pytest.raises(OSError, match="No space"), telemetry:
        telemetry.phase("load")
    assert not telemetry._thread.is_alive()


def test_an_error_of_the_trial_is_not_hidden_by_one_of_the_sink(tmp_path):
    def full(_):
        raise OSError(28, "No space left on device")

    with pytest.raises(KeyError, match="trial"), Telemetry(list, list, tmp_path, full):
        raise KeyError("trial")


def test_a_pid_function_that_fails_and_a_dead_pid_are_no_trouble(tmp_path):
    def broken():
        raise RuntimeError("the server has just died")

    with Telemetry(broken, lambda: [2**22 + 1], tmp_path, lambda _: None) as telemetry:
        telemetry.phase("load")
    load = telemetry.summary()["load"]
    assert load["server_cpu_seconds"] == 0
    assert load["server_rss_peak_bytes"] is None


def test_a_phase_entered_again_goes_on(tmp_path):
    with Telemetry(list, list, tmp_path, lambda _: None) as telemetry:
        for name in ("a", "b", "a"):
            begun = telemetry.phase(name)
    assert begun > 0
    assert list(telemetry.summary()) == [OVERHEAD, "a", "b"]


def test_a_share_of_a_phase_entered_again_is_of_the_length_of_all_its_parts():
    busy, phase = ("machine", "device_busy_seconds"), Phase()
    phase.add(1.0, {busy: 10.0}, {busy: 10.5}, {})
    phase.add(3.0, {busy: 20.0}, {busy: 20.5}, {})
    assert phase.summary()["device_busy_fraction"] == 0.25
