"""The questions of ClickBench: systems give the same answers, and the timed statements are the publication's."""

from __future__ import annotations

import csv
import io
import random
from dataclasses import replace
from typing import Any
from unittest.mock import MagicMock

import pyarrow as pa
import pytest

from benchbook.analyse.answers import Answer, compare
from benchbook.workers import hits
from benchbook.workers.engine import Engine, FailedError, Specification, open_engine

ROWS = 3000
JULY = 1_372_636_800
QUESTION = Specification(
    0, "q1", hits.TABLE, "", "", 0, (), 0, 1, group_by_host=False, form="q1", limit=ROWS / 1000
)
TEXTS = {
    "URL": ["", "http://a.example/b", "http://a.example/google", "http://www.google.example/c"],
    "Title": ["", "Some-title", "Google-title"],
    "Referer": ["", "http://www.a.example/b", "https://c.example/d/e", "http://c.example/f"],
    "SearchPhrase": ["", "", "red+shoes", "blue+hat", "green+coat"],
    "MobilePhoneModel": ["", "Model-1", "Model-2"],
}
NUMBERS = {
    "CounterID": (62, 63), "UserID": (435090932899640440, 435090932899640459), "TraficSourceID": (-1, 6),
    "RefererHash": (3594120000172545465, 3594120000172545466), "URLHash": (2868770270353813622, 2868770270353813623),
    "IsRefresh": (0, 1), "DontCountHits": (0, 1), "ClientIP": (-(2**31) + 3, 2**31 - 1), "WatchID": (0, 2**62),
}  # fmt: skip
"""Least and largest value; others are 0 to 9."""


def batch(first: int, count: int) -> pa.RecordBatch:
    draw = random.Random(first)
    times = [JULY + (first + row) * 31 * 86_400 // ROWS for row in range(count)]
    made: dict[str, Any] = {"time": pa.array([0] * count, pa.timestamp("ns", "UTC"))}
    for name, kind in hits.COLUMNS.items():
        if kind == "TEXT":
            made[name] = [draw.choice(TEXTS.get(name, ["", "some"])) for _ in range(count)]
        elif kind == "TIMESTAMP":
            made[name] = times
        elif kind == "DATE":
            made[name] = [time // 86_400 for time in times]
        else:
            made[name] = [draw.randint(*NUMBERS.get(name, (0, 9))) for _ in range(count)]
    found = pa.RecordBatch.from_pydict(made)
    return found.replace_schema_metadata({"table": hits.TABLE})


def loaded(name: str, where: Any) -> Engine:
    engine = open_engine(name, where, {})
    for first in range(0, ROWS, 1000):
        one = batch(first, 1000)
        engine.create(hits.TABLE, one.schema)
        engine.insert(hits.TABLE, engine.convert(one))
    engine.settle()
    return engine


def answers(engine: Engine, name: str) -> list[Answer]:
    held = []
    for question in hits.SQL:
        asked = replace(QUESTION, form=question, type=question)
        timed, found = engine.query(asked), engine.query(replace(asked, compared=True))
        assert callable(timed)
        assert callable(found)
        rows = found()
        assert timed()[0] == rows[0], f"{question}: the timed answer has another number of rows"
        held.append(Answer(name, name, question, question, ("time_ns", "host", "value"), tuple(rows)))
    return held


@pytest.mark.parametrize("other", ["sqlite", "chdb"])
def test_every_question_has_the_answer_of_duckdb(other, tmp_path):
    pytest.importorskip(other.replace("sqlite", "sqlite3"))  # a system's own environment has chdb
    held = []
    for name in ("duckdb", other):
        engine = loaded(name, tmp_path / name)
        assert engine.tables() == [hits.TABLE]
        count = engine.count()[hits.TABLE]
        assert (count.rows, count.fields) == (ROWS, dict.fromkeys(hits.NUMBERS, ROWS))
        held += answers(engine, name)
        engine.close()
    assert compare(held, 1e-6).differences == ()
    empty = {one.query_type for one in held if one.rows[0][2] == 0}
    assert empty <= {"q39", "q40", "q41", "q42", "q43"}, (
        "their OFFSET skips more groups than a small table has"
    )


def test_polars_counts_the_columns_and_answers_in_sql(tmp_path):
    engine = loaded("polars", tmp_path / "polars")
    assert engine.count()[hits.TABLE].fields == dict.fromkeys(hits.NUMBERS, ROWS)
    found = engine.query(replace(QUESTION, compared=True, form="q13", type="q13"))
    assert callable(found)
    assert found()[0] == (0, "rows", 3)


def test_a_data_frame_without_sql_refuses_the_questions(tmp_path):
    pytest.importorskip("pandas")
    engine = loaded("pandas", tmp_path / "pandas")
    with pytest.raises(FailedError, match="only the questions of frames"):
        engine.query(QUESTION)


def test_the_table_has_the_columns_of_the_publication():
    assert (len(hits.COLUMNS), len(hits.NUMBERS), len(hits.SQL)) == (105, 77, 43)
    typed = hits.typed(batch(0, 10))
    assert typed.schema.names == list(hits.COLUMNS)
    assert [str(typed.schema.field(name).type) for name in ("UserID", "OS", "EventTime", "EventDate")] == [
        "int64", "int16", "timestamp[s]", "date32[day]",
    ]  # fmt: skip


def test_the_timed_statement_is_the_publications_and_the_compared_one_has_a_complete_order():
    asked = replace(QUESTION, form="q13")
    timed = hits.statement(asked, "duckdb")
    assert timed.endswith("GROUP BY SearchPhrase ORDER BY c DESC LIMIT 10")
    assert hits.statement(asked, "duckdb", complete=True) == timed.replace("DESC", "DESC, SearchPhrase")
    assert "/*" not in "".join(hits.statement(replace(asked, form=name), "duckdb") for name in hits.SQL)


def test_sqlite_makes_numbers_of_minutes_only_in_the_compared_statement():
    asked = replace(QUESTION, form="q19")
    assert "UserID, strftime('%M', EventTime) AS m" in hits.statement(asked, "sqlite")
    assert "CAST(strftime('%M', EventTime) AS INTEGER) AS m" in hits.statement(asked, "sqlite", complete=True)


def test_large_groups_have_the_published_share_of_the_rows():
    asked = replace(QUESTION, form="q28", limit=1000.0)
    assert "HAVING COUNT(*) > 1000 ORDER" in hits.statement(asked, "duckdb")


@pytest.mark.parametrize("dialect", hits.ADAPTED)
def test_every_adaptation_changes_a_statement(dialect):
    statements = "\n".join(hits.SQL.values())
    assert all(published in statements for published in hits.ADAPTED[dialect])


def test_another_value_is_another_answer():
    first, second = hits.compared([("a", 1)]), hits.compared([("a", 2)])
    assert first == [(0, "rows", 1), (0, "column 0", "a"), (0, "column 1", 1)]
    assert first != second


def test_postgresql_gets_rows_as_csv_in_which_empty_texts_are_not_null(monkeypatch):
    monkeypatch.setattr("psycopg.connect", lambda *_, **__: MagicMock())
    engine = open_engine("postgresql", "postgres://me@h:1", {"database": "d", "password": "p"})
    one = batch(0, 10)
    text = engine.convert(one).decode()
    rows = list(csv.DictReader(io.StringIO(text), fieldnames=list(hits.COLUMNS)))
    assert [row["URL"] for row in rows] == one.column("URL").to_pylist()
    assert [int(row["UserID"]) for row in rows] == one.column("UserID").to_pylist()
    assert {row["EventDate"] for row in rows} == {"2013-07-01"}
    assert text.splitlines()[0].count('""') == list(rows[0].values()).count("")
    with pytest.raises(FailedError, match="only questions about hits, not the table cpu"):
        engine.create("cpu", one.schema)
    with pytest.raises(FailedError, match="only questions about hits, not questions of the type"):
        engine.query(replace(QUESTION, table="cpu"))
