"""The workload kline: remaining defects of a method, requests, metrics."""

from __future__ import annotations

import pytest

from benchbook.declare import plugin

kline = plugin.module("kline-mysql-vs-kv", "workload")
SQL_DEFECTS, KlineOptions = kline.SQL_DEFECTS, kline.KlineOptions


@pytest.mark.parametrize(
    ("method", "sql", "store"),
    [
        ("as-published", {"one-stock", "three-bars"}, {"undecoded"}),
        ("any-stock", {"three-bars"}, {"undecoded"}),
        ("same-bars", set(), {"undecoded"}),
        ("corrected", set(), set()),
    ],
)
def test_each_method_puts_one_more_defect_right(method, sql, store):
    options = KlineOptions(read="short", method=method)
    for driver in ("mysql", "oracle", "sqlite"):
        assert kline.remaining_defects(options, driver) == sql
    assert kline.remaining_defects(options, "postgresql") == sql - {"one-stock"}
    for driver in ("redis", "kvrocks"):
        assert kline.remaining_defects(options, driver) == store


def test_only_short_reads_ask_for_more_than_their_bar():
    short, long = (KlineOptions(read=read, method="as-published", requests=20) for read in ("short", "long"))
    assert kline.request_flags(short, SQL_DEFECTS) == (
        "--read=short",
        "--count=20",
        "--one-stock",
        "--margin=60s",
    )
    assert kline.request_flags(long, SQL_DEFECTS) == ("--read=long", "--count=20", "--one-stock")
    assert kline.request_flags(short, frozenset({"undecoded"})) == ("--read=short", "--count=20")


def test_published_reads_in_flight_are_the_systems_own():
    options = KlineOptions(read="long", in_flight="published", published_in_flight={"mysql-8": 20})
    assert (options.in_flight_of("mysql-8"), options.in_flight_of("duckdb")) == (20, 64)
    assert KlineOptions(read="long", in_flight=7).in_flight_of("mysql-8") == 7


def test_measurements():
    summary = {"duration_ns": 2_000_000_000, "operations": 10, "rows": 30, "bytes": 840, "errors": 0}
    found = {one.metric: one.value for one in kline.measurements("long", summary, [], 64)}
    assert found["reads_per_second"] == 5
    assert found["rows_per_read"] == found["rows_decoded_per_read"] == 3
    assert found["in_flight"] == 64


def test_bars_that_nobody_decoded_are_told_apart_from_those_that_came():
    summary = {"duration_ns": 1_000_000_000, "operations": 2, "rows": 480, "bytes": 13440, "errors": 0}
    found = {one.metric: one.value for one in kline.measurements("short", summary, [], 1, undecoded=True)}
    assert (found["rows_per_read"], found["rows_decoded_per_read"]) == (240, 0)
