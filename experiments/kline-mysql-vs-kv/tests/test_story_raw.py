"""The raw data of the kline publication, with numbers that can be checked by hand."""

from __future__ import annotations

import pytest

from benchbook.declare.catalogue import Catalogue
from benchbook.report.story import story
from benchbook.site import defects

kline = story("kline-mysql-vs-kv")


def test_every_group_agrees_with_littles_law_and_not_with_the_stated_clients():
    found = kline.groups()
    assert sum(len(one.throughputs) for one in found) == 153
    assert all(one.measured.ok for one in found)
    assert not any(one.stated.ok for one in found if one.system in ("mysql", "postgresql", "qdata"))


def test_one_group_by_hand():
    one = next(
        one
        for one in kline.groups()
        if (one.system, one.payload, one.rows) == ("dolphindb-olap", "100KB", 12_000_000)
    )
    assert one.throughputs == (1205.52, 1219.57, 1232.84)
    assert one.value == pytest.approx((1205.52 * 1219.57 * 1232.84) ** (1 / 3))
    # Student's t with 2 degrees of freedom on the logarithms
    assert (one.low, one.high) == (pytest.approx(1185.8, abs=0.5), pytest.approx(1253.5, abs=0.5))
    assert one.mislabelled  # named for 100 kB, returned 3 rows


def test_fewer_than_three_repeats_have_no_interval(tmp_path):
    lines = (Catalogue().published(kline.SLUG) / kline.FILE).read_text().splitlines()
    file = tmp_path / "part.csv"
    file.write_text("\n".join(lines[:3]) + "\n")
    (one,) = kline.groups(file)
    assert one.low is None
    assert "none: 2 repeats" in kline.raw_table(file).rows[0]


def test_the_chart_names_every_system():
    figure = kline.raw_chart()
    for title in kline.TITLES.values():
        assert title in figure.alt
    assert len(figure.table.rows) == len(kline.groups())


def test_every_defect_says_how_it_is_known():
    found = defects.publications()
    assert len(found) >= 6
    for one in found:
        assert one.defects
        for defect, known in ((held.defect, held.known) for held in one.defects):
            assert defect.endswith(".")
            assert known.endswith(".")
