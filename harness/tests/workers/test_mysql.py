"""The client of MySQL and MariaDB for tables from a file."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pyarrow as pa
import pytest

pytest.importorskip("pymysql")

from benchbook.workers import content, mysql_engine
from benchbook.workers.mysql_engine import MySQL, lines
from benchbook.workers.questions import add


def test_rows_have_escapes_and_nulls_as_load_data_reads_them() -> None:
    batch = pa.RecordBatch.from_pydict(
        {
            "a": pa.array([1, None]),
            "b": pa.array([0.1, 1e300]),
            "c": pa.array(["tab\t, \\N and\nline", ""]),
            "d": pa.array([True, None]),
            "e": pa.array([date(2024, 1, 31), None]),
            "f": pa.array([datetime(2024, 1, 31, 7, tzinfo=UTC), None], pa.timestamp("s")),
        }
    )
    assert lines(batch).decode() == (
        "1\t0.1\ttab\\t, \\\\N and\\nline\t1\t2024-01-31\t2024-01-31 07:00:00\n\\N\t1e+300\t\t\\N\t\\N\t\\N\n"
    )


def test_a_table_has_types_that_keep_texts_and_times_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = pa.schema([("timestamp", pa.timestamp("us")), ("text", pa.string()), ("flag", pa.bool_())])
    add(content.of_schema(schema.with_metadata({"table": "own_texts"})))
    said: list[str] = []
    monkeypatch.setattr(MySQL, "rows", lambda _, text: said.append(text) or [[1]])
    monkeypatch.setattr(mysql_engine.pymysql, "connect", lambda **_: None)
    MySQL("mysql://127.0.0.1:3306", {"database": "benchbook"}).create("own_texts", schema)
    assert said[0] == (
        "CREATE TABLE IF NOT EXISTS own_texts (`timestamp` DATETIME(6), `text` LONGTEXT, `flag` BOOLEAN)"
        " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
    )
