"""The processor time of other programs: what the machine used beyond a process and its descendants."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.run import others, trial
from benchbook.run.findings import Findings
from benchbook.run.others import Used, share

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the time of every process")
BURN = "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass"


def seconds_of_others(begin: Used | None, end: Used | None) -> float:
    found = share(begin, end)
    assert begin is not None
    assert end is not None
    assert found is not None
    return found * (end.whole - begin.whole)


def test_work_of_a_child_is_other_work_for_its_sibling_alone() -> None:
    """Whatever else this machine does, the two counts of the same time differ by the work of the child."""
    with subprocess.Popen(["sleep", "60"]) as sibling:
        begin, of_sibling = others.used(), others.used(sibling.pid)
        subprocess.run([sys.executable, "-S", "-c", BURN], check=True)
        own, foreign = (
            seconds_of_others(begin, others.used()),
            seconds_of_others(of_sibling, others.used(sibling.pid)),
        )
        sibling.kill()
    assert 0.4 < foreign - own < 1.5


def test_what_ran_in_a_container_is_no_other_program() -> None:
    begin, end = Used(100, 50, 10), Used(200, 90, 20)
    assert share(begin, end) == pytest.approx(0.3)
    assert share(begin, end, elsewhere=25.0) == pytest.approx(0.05)
    assert share(begin, end, elsewhere=40.0) == 0.0
    assert share(None, end) is share(begin, begin) is None


@pytest.mark.parametrize(("contained", "value"), [(False, 0.3), (True, 0.05)])
def test_a_trial_records_it_and_leaves_out_its_container(
    monkeypatch: pytest.MonkeyPatch, contained: bool, value: float
) -> None:
    monkeypatch.setattr(others, "used", lambda: Used(200, 90, 20))
    phases = {
        "load": {"server_cpu_seconds": 20.0},
        "q": {"server_cpu_seconds": 5.0},
        "stop": {"server_cpu_seconds": None},
    }
    one: Any = SimpleNamespace(
        running=False,
        contained=contained,
        telemetry=SimpleNamespace(summary=lambda: phases),
        findings=Findings(),
    )
    trial.TrialRun._note_others(one, Used(100, 50, 10))
    [found] = one.findings.measurements
    assert (found.phase, found.metric, found.value) == ("trial", "other_cpu_fraction", pytest.approx(value))
    one.running = True
    trial.TrialRun._note_others(one, Used(100, 50, 10))
    assert len(one.findings.measurements) == 1
