"""A file and questions of one's own, on DuckDB, SQLite and the servers that are installed, without a line of code."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from bench import bench, need_benchload, rows

from benchbook.declare.catalogue import Catalogue
from benchbook.errors import Unavailable
from benchbook.provision.find import preview
from benchbook.provision.request import Request

EXPERIMENT = """
title = "Two questions about trips"
question = "Which system answers two questions about trips fastest?"
dataset = "trips"
[factors]
system = {systems}
[[phases]]
name = "load"
workload = "load"
[[phases]]
name = "questions"
workload = "sql"
[phases.options]
questions = "questions/*.sql"
parameters = {{ city = ["Paris", "it's", 'a\\'], low = {{ least = -4, most = -2 }} }}
[profiles.quick]
trials = 1
trial_seconds = 5
phase_options = {{ questions = {{ duration = "0.1s" }} }}
"""
TRIPS = """
SELECT i AS id, i / 7 AS fare, CASE WHEN i % 3 = 0 THEN 'Paris' ELSE 'it''s' END AS city,
       TIMESTAMP '2024-01-01 00:00:00' + INTERVAL (i) HOUR AS began
FROM range(5000) t(i)
UNION ALL VALUES (-9223372036854775808, -1.7976931348623157e308, 'a\\', TIMESTAMP '0001-01-01 00:00:00.000001'),
                 (9223372036854775807, 5e-324, 'tab\t, \\N and\nline', TIMESTAMP '9999-12-31 23:59:59.999999'),
                 (-1, 0.1, '', NULL), (-2, NULL, NULL, TIMESTAMP '1969-12-31 23:59:59')
"""


def available(name: str) -> bool:
    try:
        return bool(preview(Catalogue().system(name), Request()))
    except Unavailable:
        return False


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    need_benchload()
    systems = [
        "duckdb",
        "sqlite",
        *filter(available, ("postgresql-15", "mariadb-10.11", "datafusion-55.0.0")),
    ]
    made = tmp_path / "project"
    for name in ("datasets", "experiments/trips/questions"):
        (made / name).mkdir(parents=True)
    (made / "benchbook.toml").write_text('name = "own"\n')
    duckdb.execute(f"COPY ({TRIPS}) TO '{made}/datasets/trips.parquet'")
    (made / "datasets/trips.toml").write_text(
        'name = "trips"\ntitle = "Trips"\ndescription = "Trips."\nfloat_tolerance = 1e-6\n'
        '[source]\nfile = "trips.parquet"\n'
    )
    experiment = made / "experiments/trips"
    (experiment / "experiment.toml").write_text(EXPERIMENT.format(systems=json.dumps(systems)))
    for name, text in {
        "q1.sql": "SELECT city, count(*), max(fare), max(began) FROM trips WHERE id > 0 GROUP BY city",
        "q3.sql": "SELECT id, fare, city, began FROM trips WHERE city NOT IN ('Paris', 'it''s') OR id -{{low}} < 4",
        "q2.sql": "SELECT strftime('%H', began) AS hour, count(*) FROM trips WHERE city = {{city}} GROUP BY 1",
        "q2.postgresql.sql": "SELECT to_char(began, 'HH24'), count(*) FROM trips WHERE city = {{city}} GROUP BY 1",
        "q2.mysql.sql": "SELECT date_format(began, '%H'), count(*) FROM trips WHERE city = {{city}} GROUP BY 1",
        "q2.datafusion.sql": "SELECT to_char(began, '%H'), count(*) FROM trips WHERE city = {{city}} GROUP BY 1",
        "q2.chdb.sql": "SELECT formatDateTime(began, '%H'), count(*) FROM trips WHERE city = {{city}} GROUP BY 1",
        "q2.duckdb.sql": "SELECT strftime(began, '%H'), count(*) FROM trips WHERE city = {{city}} GROUP BY 1",
    }.items():
        (experiment / "questions" / name).write_text(text)
    monkeypatch.setenv("BENCHBOOK_PROJECT", str(made))
    return made


def test_a_file_is_loaded_and_all_systems_give_the_same_answers(project: Path, open_folder: Path) -> None:
    results = open_folder / "results"
    done = bench("run", "trips", "--results", str(results), report=False)
    assert done.returncode == 0, done.stderr
    assert {row["status"] for row in rows(results, "select status from trials")} == {"ok"}
    checks = rows(results, "select distinct name, expected, found from checks where kind = 'values'")
    assert [one for one in checks if one["name"] == "values in trips.fare"] == [
        {"name": "values in trips.fare", "expected": "5003", "found": "5003"}
    ]
    answered = rows(
        results,
        "select query_type, count(*) as n, count(distinct digest) as different from answers group by 1",
    )
    assert {row["query_type"] for row in answered} == {"q1", "q2", "q3"}
    compared = rows(results, "select name, ok from checks where kind = 'answers'")
    assert compared
    assert all(row["ok"] for row in compared), compared
    phases = rows(results, "select distinct phase from measurements where metric = 'latency_p50'")
    assert {row["phase"] for row in phases} >= {"q1", "q2"}
    (project / "datasets/trips.parquet").write_bytes(b"other")
    done = bench("plan", "trips", "--results", str(results))
    assert done.returncode == 2
    assert "cannot be read as parquet" in done.stderr


def test_chdb_refuses_days_that_it_would_change_and_gives_the_same_answers(
    project: Path, open_folder: Path
) -> None:
    if not available("chdb-4.4.0"):
        pytest.skip("chDB is not here")
    results = open_folder / "results"
    asked = ("run", "trips", "--results", str(results), "--set", "system=duckdb,chdb-4.4.0")
    bench(*asked, report=False)
    [failed] = rows(results, "select reason from trials where system = 'chdb-4.4.0'")
    assert "began has 9999-12-31, but ClickHouse holds 1900-01-01 to 2299-12-31 alone" in failed["reason"]
    duckdb.execute(f"COPY ({TRIPS.partition('UNION ALL')[0]}) TO '{project}/datasets/trips.parquet'")
    done = bench(*asked, report=False)
    assert done.returncode == 0, done.stderr
    compared = rows(results, "select name, ok from checks where kind = 'answers'")
    assert compared
    assert all(row["ok"] for row in compared), compared
