import signal
import time

from benchbook.process.spawn import start
from benchbook.run.findings import EventFile
from benchbook.run.watchdog import Hang


def test_what_is_stopped_is_ended_and_what_works_is_left_alone(tmp_path):
    stopped = start(["sh", "-c", "kill -STOP $$"], name="stopped", log=tmp_path / "log")
    hang = Hang(lambda: [stopped.pid], seconds=1.0)
    with hang.watched():
        stopped.wait_ending(30.0)
    assert stopped.ending() == "was ended by SIGKILL"
    assert "All processes were idle for" in hang.note()
    stopped.stop()
    busy = start(["sh", "-c", "while :; do :; done"], name="busy", log=tmp_path / "log")
    hang = Hang(lambda: [busy.pid], seconds=1.0)
    with hang.watched():
        time.sleep(3)
    assert busy.ending() is None
    assert hang.note() == ""
    busy.stop(first=signal.SIGKILL)


def test_a_client_that_reports_nothing_is_ended_although_its_server_works(tmp_path):
    """A server has background work in each second, so its client's silence has to count alone."""
    busy = start(["sh", "-c", "while :; do :; done"], name="busy", log=tmp_path / "log")
    hang = Hang(lambda: [busy.pid], seconds=60.0, silent_seconds=0.5)

    def silent():
        yield {"type": "interval"}
        busy.wait_ending(30.0)

    events = EventFile(tmp_path, lambda _rate, _unit: None, hang=hang)
    with hang.watched():
        events.take("load", silent())
    events.close()
    assert busy.ending() == "was ended by SIGKILL"
    assert hang.note() == " The client reported nothing for 0.5 s, so Benchbook ended them."
    busy.stop()


def test_a_client_that_reports_is_left_alone(tmp_path):
    busy = start(["sh", "-c", "while :; do :; done"], name="busy", log=tmp_path / "log")
    hang = Hang(lambda: [busy.pid], seconds=60.0, silent_seconds=2.0)

    def lively():
        for _ in range(30):
            time.sleep(0.1)
            yield {"type": "interval"}

    events = EventFile(tmp_path, lambda _rate, _unit: None, hang=hang)
    with hang.watched():
        events.take("load", lively())
        time.sleep(1.0)
    events.close()
    assert busy.ending() is None
    assert hang.note() == ""
    busy.stop(first=signal.SIGKILL)
