"""Which claims the first page counts as measured at another scale than published."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchbook.analyse.claims import Judgement
from benchbook.analyse.reason import because
from benchbook.site.index import SCALE, rescaled

JUDGED = Judgement(
    "faster",
    "A is faster",
    "page 1",
    2.0,
    2.0,
    1.9,
    2.1,
    0.1,
    "reproduced",
    (),
    "load",
    "rows_per_second",
    "ratio",
)


OTHER = because("one-device")


@pytest.mark.parametrize("code", sorted(SCALE))
def test_a_difference_of_scale_counts_wherever_it_is_stated(code: str) -> None:
    assert rescaled(replace(JUDGED, reasons=(OTHER, because(code))))
    assert rescaled(replace(JUDGED, conditions=(OTHER, because(code))))


def test_other_reasons_are_no_difference_of_scale() -> None:
    assert not rescaled(replace(JUDGED, reasons=(OTHER,), conditions=(OTHER,)))
