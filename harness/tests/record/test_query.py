from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.errors import RequestError
from benchbook.record import duckdb_file, query
from benchbook.record.tables import TABLES


def test_a_question_is_answered(recorded: tuple[Path, str]) -> None:
    results, _ = recorded
    found = query.sql(results, "select system, count(*) as trials from trials group by 1 order by 1")
    assert found.to_dicts() == [{"system": "duckdb", "trials": 3}, {"system": "sqlite", "trials": 3}]
    assert query.sql(results, "DESCRIBE trials").height > 10
    assert query.sql(results, "EXPLAIN SELECT 1").height == 1
    assert query.sql(results, "WITH a AS (SELECT 1 AS b) SELECT * FROM a;").item() == 1


def test_sums_are_whole_numbers(recorded: tuple[Path, str]) -> None:
    results, _ = recorded
    found = query.sql(
        results, 'SELECT sum("index") AS small, sum("index"::HUGEINT << 80) AS large FROM trials'
    )
    assert found["small"].to_list() == [15]
    assert isinstance(found["small"][0], int)
    assert int(found["large"][0]) == 15 << 80


def test_intervals_and_other_types_that_polars_lacks_are_texts(recorded: tuple[Path, str]) -> None:
    text = (
        "SELECT TIMESTAMP '2026-01-02' - TIMESTAMP '2026-01-01' AS \"a \"\"b\", '101'::BIT AS c, "
        "'12:00:00+01'::TIMETZ AS d, 1 AS e"
    )
    found = query.sql(recorded[0], text)
    assert found.row(0) == ("1 day", "101", "12:00:00+01", 1)
    assert found.columns == ['a "b', "c", "d", "e"]


def test_the_tables_are_listed(recorded: tuple[Path, str]) -> None:
    results, _ = recorded
    found = query.tables(results)
    assert found["table"].to_list() == [table.name for table in TABLES]
    assert found["comment"].to_list() == [table.comment for table in TABLES]


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM trials",
        "INSERT INTO schema_version VALUES (4)",
        "UPDATE trials SET status = 'ok'",
        "DROP TABLE trials",
        "CREATE TABLE more (a INTEGER)",
        "ATTACH 'other.duckdb'",
        "COPY trials TO 'trials.csv'",
        "SET threads = 1",
        "WITH a AS (SELECT 1) DELETE FROM trials",
        "CHECKPOINT",
        "INSTALL httpfs",
        "SELECT 1; DROP TABLE trials",
        "",
        "-- nothing",
    ],
)
def test_nothing_is_changed(recorded: tuple[Path, str], text: str) -> None:
    results, _ = recorded
    query.sql(results, "SELECT 1")
    before = (results / duckdb_file.FILE).read_bytes()
    with pytest.raises(RequestError) as caught:
        query.sql(results, text)
    assert caught.value.exit_code == 2
    assert caught.value.hint
    assert (results / duckdb_file.FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("SELECT * FROM trails", "trails does not exist", 'Did you mean the table "trials"?'),
        ("SELECT sytem FROM trials", '"sytem" not found', 'Did you mean the column "system" (of trials)?'),
        (
            "SELECT t.metrc FROM measurements t",
            '"metrc"',
            'the column "metric" (of measurements, telemetry)?',
        ),
        (
            "SELECT value FROM trials",
            '"value" not found',
            '"value" is in the tables run_facts, measurements, telemetry',
        ),
        ("SELEC 1", "syntax error", "The tables are runs, run_facts,"),
        ("SELECT 'a'::INTEGER", "Could not convert string 'a'", "docs/results.md"),
        ("SELECT * FROM 'nowhere.csv'", "nowhere.csv", "The tables are"),
        ("SELECT nothing(1)", "nothing", "The tables are"),
    ],
)
def test_a_mistake_is_named_with_the_nearest_name(
    recorded: tuple[Path, str], text: str, message: str, hint: str
) -> None:
    with pytest.raises(RequestError) as caught:
        query.sql(recorded[0], text)
    assert message in caught.value.message
    assert hint in str(caught.value.hint)
