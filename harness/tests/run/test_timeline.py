"""All time of a trial belongs to a phase or is overhead of the harness."""

from __future__ import annotations

import time

import pytest

from benchbook.run.findings import Timeline


def test_phases_and_overhead_make_up_the_whole() -> None:
    announced: list[str] = []
    timeline = Timeline(announced.append, lambda: announced.append("-"))
    time.sleep(0.02)
    with timeline.phase("start"):
        time.sleep(0.03)
    with timeline.phase("load", "load"):
        time.sleep(0.04)
    phases = sum(entry.duration_seconds for entry in timeline.phases)
    assert announced == ["start", "-", "load", "-"]
    assert timeline.overhead_seconds() >= 0.02
    assert phases >= 0.07
    assert timeline.seconds() == pytest.approx(phases + timeline.overhead_seconds(), abs=0.01)
    assert [entry.timed for entry in timeline.phases] == [False, True]


def test_a_phase_that_raises_is_kept() -> None:
    timeline = Timeline()
    with pytest.raises(ValueError, match="x"), timeline.phase("load"):
        raise ValueError("x")
    assert timeline.phases[0].duration_seconds > 0
    assert timeline.seconds_of("load") == timeline.phases[0].duration_seconds
