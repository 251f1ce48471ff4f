"""The worker stores single operations exactly as they were recorded."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchbook.workers import recorder as module
from benchbook.workers.recorder import Operations, Recorder, recording

RECORDS = st.lists(
    st.tuples(
        st.sampled_from(["warmup", "query"]),
        st.integers(0, 2**40),
        st.integers(0, 2**40),
        st.integers(0, 2**40),
        st.sampled_from(["ok", "timeout", "refused"]),
        st.integers(0, 9),
    ),
    max_size=40,
)


@given(records=RECORDS, block=st.integers(1, 12))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_the_file_holds_what_was_added_in_its_order(tmp_path, monkeypatch, records, block):
    monkeypatch.setattr(module, "BLOCK_OPERATIONS", block)
    kept = Operations(tmp_path / "operations" / "query.parquet")
    kept.begin(100)
    kept.begin(7)
    for operation, began, length, rows, status, worker in records:
        kept.add(operation, 100 + began, 100 + began + length, rows, status, worker)
    kept.close()
    table = pq.read_table(tmp_path / "operations" / "query.parquet")
    found = [tuple(row.values()) for row in table.to_pylist()]
    assert table.column_names == ["operation", *module.NUMBERS, "status"]
    assert found == [
        (operation, worker, began, began, began + length, rows, status)
        for operation, began, length, rows, status, worker in records
    ]


def test_the_file_has_its_name_when_it_is_whole(tmp_path):
    file = tmp_path / "load.parquet"
    with recording(str(file)) as kept:
        assert kept is not None
        kept.add("write", 0, 1, 1)
        assert not file.exists()
    assert file.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["load.parquet"]
    with recording(None) as none:
        assert none is None


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "operations").write_text("a file")
    with pytest.raises(OSError, match="operations"), recording(str(tmp_path / "operations" / "x.parquet")):
        pass


def test_a_recorder_keeps_what_it_counts(tmp_path):
    with recording(str(tmp_path / "x.parquet")) as kept:
        recorder = Recorder(lambda _: None, "query", kept)
        recorder.done(recorder._began_ns + 5, recorder._began_ns + 9, rows=3)
        recorder.failed("timeout", "too slow", began_ns=recorder._began_ns + 10)
        recorder.stop()
    ok, late = pq.read_table(tmp_path / "x.parquet").to_pylist()
    assert (ok["start_ns"], ok["end_ns"], ok["rows"], ok["status"]) == (5, 9, 3, "ok")
    assert (late["start_ns"], late["rows"], late["status"]) == (10, 0, "timeout")
    assert late["end_ns"] >= late["start_ns"]
