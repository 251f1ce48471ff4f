"""The picture of the index shows each ratio at its place."""

from __future__ import annotations

from benchbook.report.claim import Shown, Stated
from benchbook.site import overview


def test_ratios_are_on_the_axis_however_large_and_wide_intervals_end_at_an_edge():
    row = overview.Row(
        "A comparison", "A is faster", "holds", "holds", "It does.", Shown("5000", (5000.0,), 2.0, 1e9),
        Stated("26,200", 26200.0, "="), "26,200", ("B is faster", "A is faster"),
    )  # fmt: skip
    [placed], _ = overview._placed([row])
    assert (placed["values"], placed["published"]) == ([5000.0], 26200.0)
    assert (placed["low"], placed["high"]) == (2.0, 5000.0)
    spec = overview.figure("Claims", [row]).spec
    scales = [
        part["encoding"]["x"]["scale"]["domain"] for part in spec["layer"] if "scale" in part["encoding"]["x"]
    ]
    assert scales
    assert all(low <= 1 and high >= 26200 for low, high in scales)
