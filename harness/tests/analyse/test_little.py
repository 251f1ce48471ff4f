from __future__ import annotations

from benchbook.analyse.order import littles_law


def test_a_closed_loop_of_four_workers_agrees() -> None:
    found = littles_law(rate=1000.0, latency=0.0039, in_flight=4)
    assert found.ok
    assert "agrees with 4 operations in flight" in found.sentence


def test_a_mismatch_is_flagged_either_way() -> None:
    assert not littles_law(1000.0, 0.002, 4).ok
    assert not littles_law(1000.0, 0.008, 4).ok
    assert not littles_law(0.0, 0.008, 4).ok
    assert littles_law(0.0, 0.0, 0).ok
