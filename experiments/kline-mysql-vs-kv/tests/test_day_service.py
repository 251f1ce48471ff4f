"""The packed-day service in Python stores and cuts days like the one in Go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchbook.declare import plugin

service = plugin.module("kline-mysql-vs-kv", "day_service")
BAR_BYTES, cut, fields = service.BAR_BYTES, service.cut, service.fields


def day(count: int) -> bytes:
    return b"".join(
        b"\x03\x00" + (1000 + 60 * bar).to_bytes(4, "little") + bytes(BAR_BYTES - 6) for bar in range(count)
    )


@given(first=st.integers(0, 20_000), length=st.integers(0, 20_000))
def test_a_cut_keeps_the_range(first, length):
    wanted = [bar for bar in range(240) if first <= 1000 + 60 * bar <= first + length]
    assert cut(day(240), first, first + length) == b"".join(
        day(240)[bar * BAR_BYTES : (bar + 1) * BAR_BYTES] for bar in wanted
    )


def test_weekends_have_no_field():
    assert fields(12, 1578009600, 1578009600 + 4 * 86400) == [
        "000012_20200103", "000012_20200106", "000012_20200107",
    ]  # fmt: skip
