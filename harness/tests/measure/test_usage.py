"""The machine's own counters."""

from __future__ import annotations

import pytest

from benchbook.measure import usage
from benchbook.measure.sampler import CORE_TIME, STEAL, Phase


def test_processor_time_is_told_apart_by_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """user nice system idle iowait irq softirq steal guest: guest time is within user."""
    line = b"cpu  100 20 30 4000 50 6 7 80 9 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n"
    monkeypatch.setattr(usage, "contents", lambda path, whole=True: line if path == "/proc/stat" else b"")
    monkeypatch.setattr(usage, "TICKS", 100)
    found = usage.counters(None)
    assert {name: value for name, value in found.items() if name.startswith("cpu_")} == {
        "cpu_busy_seconds": pytest.approx(1.63),
        "cpu_idle_seconds": 40.0,
        "cpu_iowait_seconds": 0.5,
        "cpu_steal_seconds": 0.8,
    }


def test_the_stolen_share_is_of_all_processor_time() -> None:
    phase = Phase()
    phase.add(1.0, dict.fromkeys(CORE_TIME, 0.0), {**dict.fromkeys(CORE_TIME, 2.0), STEAL: 4.0}, {})
    assert phase.summary()["machine_steal_fraction"] == pytest.approx(0.4)
