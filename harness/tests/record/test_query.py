from __future__ import annotations

import contextlib
from datetime import datetime
from pathlib import Path

import pytest

from benchbook.errors import RequestError
from benchbook.record import database, duckdb_file, objects, query
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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT 'infinity'::TIMESTAMP AS a, 1 AS b", ("infinity", 1)),
        ("SELECT DATE '-infinity'", ("-infinity",)),
        ("SELECT '290000-01-01'::TIMESTAMP", ("290000-01-01 00:00:00",)),
        ("SELECT [TIMESTAMP 'infinity']", ("[infinity]",)),
        ("SELECT TIME '24:00:00'", ("24:00:00",)),
        ("SELECT union_value(a := 1)", ("1",)),
        (
            "SELECT 340282366920938463463374607431768211455::UHUGEINT",
            ("340282366920938463463374607431768211455",),
        ),
        ("SELECT TIMESTAMP '2026-01-02' AS a, 1 AS a", (datetime(2026, 1, 2), 1)),  # noqa: DTZ001 - UTC
    ],
)
def test_values_that_python_lacks_are_texts(
    recorded: tuple[Path, str], text: str, found: tuple[object, ...]
) -> None:
    rows = query.rows(query.sql(recorded[0], text))
    assert [tuple(row.values()) for row in rows] == [found]


def test_every_type_of_duckdb_is_shown(recorded: tuple[Path, str]) -> None:
    assert len(query.rows(query.sql(recorded[0], "FROM test_all_types()"))) == 3


def test_a_panic_of_a_conversion_is_a_sentence(
    recorded: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "_is_out_of_range", lambda _: False)
    found = query.sql(recorded[0], "SELECT 'infinity'::TIMESTAMP")
    with pytest.raises(RequestError, match=r"A value of the answer cannot be shown"):
        query.rows(found)


@pytest.mark.parametrize(
    "other",
    ["MACRO count_star() AS 1", "MACRO lower(a) AS 'x'", "VIEW more AS SELECT 1", "SCHEMA more", "TYPE more AS INTEGER",
     "MACRO duckdb_functions() AS TABLE SELECT 1 AS a"],
)  # fmt: skip
def test_a_database_with_functions_of_others_is_built_again(recorded: tuple[Path, str], other: str) -> None:
    results, _ = recorded
    query.sql(results, "SELECT 1")
    with database.open(results) as connection:
        connection.execute(f"CREATE {other}")
    told: list[str] = []
    assert query.sql(results, "SELECT lower('A') AS a, count(*) AS n FROM trials", told.append).row(0) == (
        "a",
        6,
    )
    assert "which is not of Benchbook. It is kept as" in told[0]


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
    "text",
    [
        "COPY (SELECT 1) TO '{file}'",
        "EXPLAIN COPY (SELECT 1) TO '{file}'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{file}'",
        "explain analyse /* a */ -- b\n copy (SELECT 1) TO '{file}'",
        "EXPLAIN (ANALYZE, FORMAT json) COPY (SELECT 1) TO '{file}'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{database}'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{database}.wal'",
        "EXPLAIN ANALYZE EXPORT DATABASE '{file}'",
        "EXPLAIN ANALYZE PREPARE p AS COPY (SELECT 1) TO '{file}'",
        "PREPARE p AS COPY (SELECT 1) TO '{file}'",
        "EXECUTE p",
        "EXPLAIN ANALYZE DROP TABLE trials",
        "EXPLAIN ANALYZE CREATE TEMP TABLE a AS SELECT 1",
        "EXPLAIN ANALYZE SET threads = 1",
        "EXPLAIN ANALYZE INSTALL httpfs",
        "WITH a AS (INSERT INTO trials SELECT * FROM trials RETURNING *) SELECT * FROM a",
        "CALL enable_logging('QueryLog', storage = 'file', storage_config = {{'path': '{file}'}})",
        "FROM query('COPY (SELECT 1) TO ''{file}''')",
        "PRAGMA enable_profiling = 'json'",
        "LOAD '{secret}'",
        "ATTACH '{file}' AS a",
        "FROM '{secret}'",
        "FROM read_csv('{secret}')",
        "FROM read_text('{secret}')",
        "FROM read_blob('{secret}')",
        "FROM read_json('{secret}')",
        "FROM read_duckdb('{secret}')",
        "FROM sniff_csv('{secret}')",
        "FROM parquet_metadata('{secret}')",
        "FROM query('FROM read_text(''{secret}'')')",
        "FROM query_table('{secret}')",
        "FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''{secret}'')'))",
        "EXPLAIN ANALYZE FROM read_text('{secret}')",
        "FROM glob('{folder}/*')",
        "IMPORT DATABASE '{folder}'",
        "PRAGMA import_database('{folder}')",
        "FROM 'http://127.0.0.1:1/a.parquet'",
        "FROM read_csv('s3://bucket/a.csv')",
        "SELECT getenv('HOME')",
        "FROM frame",
    ],
)
def test_a_question_reaches_no_file_and_no_variable(
    recorded: tuple[Path, str], tmp_path: Path, text: str
) -> None:
    import polars as pl

    results, _ = recorded
    query.sql(results, "SELECT 1")
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "secret.csv").write_text("words\nmy secret\n")
    (beside / "schema.sql").write_text("SELECT 'my secret';")
    kept = results / duckdb_file.FILE
    places = {"file": beside / "new", "secret": beside / "secret.csv", "folder": beside, "database": kept}
    frame = pl.DataFrame({"words": ["my secret"]})  # DuckDB's Python would read a local variable
    before = kept.read_bytes()
    with pytest.raises(RequestError) as caught:
        query.sql(results, text.format(**places))
    assert "my secret" not in str(caught.value)
    assert sorted(path.name for path in beside.iterdir()) == ["schema.sql", "secret.csv"]
    assert not duckdb_file.write_ahead_log(kept).exists()
    assert kept.read_bytes() == before
    assert frame.height == 1


def test_a_question_finds_no_secret(recorded: tuple[Path, str]) -> None:
    with contextlib.suppress(RequestError):  # DuckDB 1.5.1 answers that there is none
        assert query.sql(recorded[0], "FROM duckdb_secrets()").is_empty()


def test_a_log_of_queries_is_written_nowhere(recorded: tuple[Path, str], tmp_path: Path) -> None:
    for place in (tmp_path / "new", recorded[0] / "new"):
        with contextlib.suppress(RequestError):
            query.sql(
                recorded[0], f"FROM enable_logging(storage = 'file', storage_config = {{'path': '{place}'}})"
            )
        assert not place.exists()


@pytest.mark.parametrize(
    "text",
    [
        "EXPLAIN ANALYZE SELECT count(*) FROM trials",
        "explain (format json) select 1",
        "EXPLAIN (ANALYZE, FORMAT json) SELECT 1",
        "/* a */ EXPLAIN -- b\n SELECT 1",
        "EXPLAIN (SELECT 1)",
        "FROM trials",
        "TABLE trials",
        "VALUES (1)",
        "SUMMARIZE trials",
        "SHOW TABLES",
    ],
)
def test_every_statement_that_reads_is_answered(recorded: tuple[Path, str], text: str) -> None:
    assert query.sql(recorded[0], text).height > 0


def test_an_answer_may_be_larger_than_memory(recorded: tuple[Path, str]) -> None:
    results, _ = recorded
    with database.open(results, read_only=True) as connection:
        stated = "SELECT current_setting('temp_directory'), current_setting('allowed_directories')"
        [(spilled, allowed)] = connection.execute(stated).fetchall()
    assert allowed == [f"{spilled}/"]
    assert spilled == f"{results / duckdb_file.FILE}.tmp"


def test_results_on_object_storage_reach_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / objects.MARKER).write_text('{"url": "s3://bucket/prefix"}')
    monkeypatch.setattr(objects.Objects, "names", lambda *_: [])
    monkeypatch.setattr(objects.Objects, "files", lambda _: None)
    (tmp_path / "secret.csv").write_text("words\nmy secret\n")
    assert query.sql(tmp_path, "SELECT count(*) AS n FROM trials")["n"].to_list() == [0]
    with pytest.raises(RequestError, match="no file and no network"):
        query.sql(tmp_path, f"FROM '{tmp_path}/secret.csv'")
    with pytest.raises(RequestError, match="COPY is not allowed: this command only reads results"):
        query.sql(tmp_path, f"EXPLAIN ANALYZE COPY trials TO '{tmp_path}/new'")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE operations",
        "ALTER TABLE trials DROP COLUMN reason",
        "ALTER TABLE checks ADD COLUMN a INT",
    ],
)
def test_a_database_without_a_table_is_built_again(recorded: tuple[Path, str], change: str) -> None:
    results, _ = recorded
    query.sql(results, "SELECT 1")
    with database.open(results) as connection:
        connection.execute(change)
    told: list[str] = []
    asked = "SELECT count(t.trial_id) AS n FROM trials t, (SELECT count(*) FROM operations)"
    assert query.sql(results, asked, told.append)["n"].to_list() == [6]
    assert "built again from the run folders" in told[0]


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
