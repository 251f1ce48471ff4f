import signal
import time

from benchbook.process.spawn import start
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
