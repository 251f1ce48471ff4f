"""Both engines with the real libraries: the same data, the same answers."""

import sqlite3

import duckdb
import pytest

from benchbook.workers.engine import Count, Specification, open_engine
from benchbook.workers.query import normalised

from .conftest import SECOND, START, batch


@pytest.fixture(params=["duckdb", "sqlite"])
def engine(request, tmp_path):
    found = open_engine(request.param, tmp_path / "file", {})
    yield found
    found.close()


def fill(engine, rows=240):
    for first in range(0, rows, 60):
        one = batch(first, 60)
        engine.create("cpu", one.schema)
        engine.insert("cpu", engine.convert(one))


def ask(engine, **changes):
    asked = {
        "id": 0,
        "type": "t",
        "table": "cpu",
        "field": "usage_user",
        "aggregate": "max",
        "bucket_ns": 60 * SECOND,
        "hosts": (),
        "start_ns": START,
        "end_ns": START + 240 * SECOND,
        "group_by_host": False,
    }
    return normalised(engine.query(Specification(**(asked | changes))))


def test_rows_and_non_null_values_are_counted(engine):
    assert engine.tables() == []
    fill(engine)
    assert engine.tables() == ["cpu"]
    assert engine.count() == {"cpu": Count(240, {"usage_user": 240, "count": 239})}


def test_the_greatest_value_of_every_minute(engine):
    fill(engine)
    minutes = [START + n * 60 * SECOND for n in range(4)]
    assert ask(engine) == [[time, None, 59.0 + 60 * n] for n, time in enumerate(minutes)]


def test_the_mean_by_host_is_sorted_by_host_and_time(engine):
    fill(engine, 120)
    found = ask(engine, aggregate="mean", group_by_host=True)
    later = START + 60 * SECOND
    assert found == [
        [START, "host_0", 29.0],
        [later, "host_0", 89.0],
        [START, "host_1", 30.0],
        [later, "host_1", 90.0],
    ]


def test_a_window_includes_its_start_and_not_its_end_to_the_nanosecond(engine):
    fill(engine)
    start, end = START + 59 * SECOND, START + 61 * SECOND
    assert [row[2] for row in ask(engine, start_ns=start, end_ns=end)] == [59.0, 60.0]
    assert [row[2] for row in ask(engine, start_ns=start + 1, end_ns=end + 1)] == [61.0]


def test_only_the_hosts_that_are_asked_for(engine):
    fill(engine, 60)
    assert ask(engine, hosts=("host_0",)) == [[START, None, 58.0]]
    assert ask(engine, hosts=("host_0", "host_1")) == [[START, None, 59.0]]
    assert ask(engine, hosts=("nobody",)) == []


def test_integers_and_nulls(engine):
    fill(engine, 60)
    assert ask(engine, field="count", bucket_ns=SECOND, end_ns=START + 2 * SECOND) == [
        [START + SECOND, None, 1]
    ]


def test_settled_data_is_in_the_file_alone(engine, tmp_path):
    fill(engine)
    engine.settle()
    assert [path.name for path in tmp_path.iterdir() if path.stat().st_size] == ["file"]


@pytest.mark.parametrize("name", ["duckdb", "sqlite"])
def test_what_was_committed_is_there_after_opening_again(name, tmp_path):
    first = open_engine(name, tmp_path / "file", {})
    fill(first)
    first.close()
    second = open_engine(name, tmp_path / "file", {})
    assert second.count()["cpu"].rows == 240
    second.close()


def test_a_refused_sqlite_batch_leaves_nothing_of_it(tmp_path):
    engine = open_engine("sqlite", tmp_path / "file", {})
    fill(engine, 60)
    rows = engine.convert(batch(60, 10))
    rows[5] = ("too", "short")
    with pytest.raises(sqlite3.Error):
        engine.insert("cpu", rows)
    assert engine.count()["cpu"].rows == 60
    engine.insert("cpu", engine.convert(batch(60, 10)))
    assert engine.count()["cpu"].rows == 70
    engine.close()


def test_settings_reach_the_engine(tmp_path):
    one = open_engine(
        "sqlite", tmp_path / "s", {"journal_mode": "WAL", "page_size": 8192, "cache_size": -1000}
    )
    fill(one)
    assert (tmp_path / "s-wal").exists()
    assert int.from_bytes((tmp_path / "s").read_bytes()[16:18]) == 8192
    one.close()
    two = open_engine("duckdb", tmp_path / "d", {"threads": 1, "checkpoint_threshold": "256MiB"})
    two.close()


def test_a_setting_that_the_engine_does_not_know_is_refused(tmp_path):
    with pytest.raises(ValueError, match='no pragma "journal_mood"'):
        open_engine("sqlite", tmp_path / "s", {"journal_mood": "WAL"})
    with pytest.raises(duckdb.Error, match="thread_count"):
        open_engine("duckdb", tmp_path / "d", {"thread_count": 1})


def test_versions_are_the_libraries_own(tmp_path):
    for name, version in (("sqlite", sqlite3.sqlite_version), ("duckdb", duckdb.__version__)):
        engine = open_engine(name, tmp_path / name, {})
        assert engine.version() == version
        engine.close()
