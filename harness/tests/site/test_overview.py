"""The picture of the index: its rows lead to their pages, and each ratio is at its place."""

from __future__ import annotations

import re

from benchbook.analyse.grade import Reading
from benchbook.report.claim import Shown, Stated
from benchbook.site import overview


def row(name: str, ratio: float, published: float) -> overview.Row:
    return overview.Row(
        name, "the vendor, 2024", f"{name}.html", "A is faster", Reading("holds"), "holds",
        Shown(f"{ratio}", (ratio,), ratio / 2, ratio * 2), Stated(f"{published}", published, "="), f"{published}",
        f"published {published}",
        ("B is faster", "A is faster"),
    )  # fmt: skip


def test_rows_lead_to_their_pages_and_have_the_axis_above_and_below():
    made = overview.figure("Claims", [row("one", 0.5, 2.0), row("two", 4.0, 2.0)])
    assert re.findall(r'<span class="bb-said"><a href="([^"]+)">', made.markup) == ["one.html", "two.html"]
    parts = re.findall(r'class="(bb-axis|bb-row)"', made.markup)
    assert parts == ["bb-axis", "bb-row", "bb-row", "bb-axis"]
    dots = [float(place) for place in re.findall(r'class="dot" style="left:([\d.]+)%"', made.markup)]
    assert 0 < dots[0] < 50 < dots[1] < 100
    assert made.markup.count("← B is faster") == made.markup.count("A is faster →") == 2


def test_a_ratio_beyond_the_axis_is_an_arrow_with_its_value():
    near = overview.figure("Claims", [row("one", 0.5, 2.0)])
    assert overview.forest.FAR not in near.markup
    far = overview.figure("Claims", [row("one", 5000.0, 26200.0)])
    assert overview.forest.FAR in far.markup
    assert "published 26,200 →" in far.markup
    assert "5,000 →" in far.markup
