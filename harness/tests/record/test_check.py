"""Kinds of checks, and the kinds that checks of older runs get."""

from __future__ import annotations

from pathlib import Path

import duckdb

from benchbook.record import check, database, duckdb_file, folder, query
from benchbook.record.tables import BY_NAME
from benchbook.run.findings import Findings
from benchbook.systems.driver import TableCount


def test_the_schema_names_every_kind() -> None:
    [kind] = [column for column in BY_NAME["checks"].columns if column.name == "kind"]
    assert kind.comment == f"{', '.join(check.KINDS[:-1])} or {check.KINDS[-1]}."


def test_every_check_that_is_composed_today_has_the_kind_that_its_name_had() -> None:
    made = Findings()
    digest = {"tables": {"cpu": {"rows": 10, "fields": {"idle": 10, "user": 4}}}}
    made.check_counts(digest, {"cpu": TableCount(10, {"idle": 10, "user": 4})})
    made.check_counts({"tables": {"cpu": {"rows": 10, "fields": {"user": 4}}}}, {}, "second")
    made.check_written(digest, {"cpu": TableCount(10, {"idle": 10})}, 10, 14)
    made.check_acknowledged("first", 10, 12)
    made.note_found("first", 10, 9, "refused")
    made.note_out_of_objects("read", 1.0)
    made.note_listening(1)
    assert {one["kind"] for one in made.checks} >= {"rows", "values", "acknowledged", "optional"}
    for one in made.checks:
        assert check.of_older(one["name"]) == one["kind"], one


def test_tables_of_an_older_benchbook_get_the_kinds(tmp_path: Path, recorded: tuple[Path, str]) -> None:
    results, run_id = recorded
    whole = query.sql(results, "SELECT kind, name FROM checks ORDER BY name, kind")
    assert set(whole["kind"]) == {"rows", "values"}
    older = tmp_path / "runs" / run_id
    tables = older / folder.TABLES_FOLDER
    tables.mkdir(parents=True)
    for name in (folder.RUN_FILE, folder.PLAN_FILE):
        (older / name).write_bytes((results / "runs" / run_id / name).read_bytes())
    with duckdb.connect(str(results / duckdb_file.FILE), read_only=True) as connection:
        for table in BY_NAME:
            columns = "* EXCLUDE (kind)" if table == "checks" else "*"
            connection.execute(f"COPY (SELECT {columns} FROM {table}) TO '{tables / table}.parquet'")
    assert "kind" not in duckdb.sql(f"SELECT * FROM '{tables}/checks.parquet'").columns
    database.rebuild(tmp_path)
    assert query.sql(tmp_path, "SELECT kind, name FROM checks ORDER BY name, kind").equals(whole)
