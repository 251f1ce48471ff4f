from __future__ import annotations

from benchbook.analyse.order import check


def test_a_closed_loop_of_four_workers_agrees() -> None:
    found = check(rate=1000.0, latency=0.0039, in_flight=4)
    assert found.ok
    assert "agrees with 4 operations in flight" in found.sentence


def test_a_mismatch_is_flagged_either_way() -> None:
    assert not check(1000.0, 0.002, 4).ok
    assert not check(1000.0, 0.008, 4).ok
    assert not check(0.0, 0.008, 4).ok
    assert check(0.0, 0.0, 0).ok
