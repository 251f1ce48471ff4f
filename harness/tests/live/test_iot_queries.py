"""The answers of a real InfluxDB to the iot queries, compared with independent SQL over the same rows in DuckDB."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from bench import bench, need_benchload

from benchbook.process.spawn import find_benchload

SIZE = {"scale": "60", "end": "2022-01-01T06:00:00Z"}
FLAGS = [
    "--seed", "123", "--scale", SIZE["scale"], "--start", "2022-01-01T00:00:00Z", "--end", SIZE["end"],
    "--interval", "50s",
]  # fmt: skip
Query = dict[str, Any]


def _last(columns: str, table: str, where: str) -> str:
    place = "row_number() OVER (PARTITION BY name ORDER BY time DESC) AS place"
    inner = f"SELECT name, time, {columns}, {place} FROM {table} WHERE {where}"
    return f"SELECT name AS key, time AS at, {columns} FROM ({inner}) WHERE place = 1"


def _within(q: Query) -> str:
    return f"time >= {q['start_ns']} AND time < {q['end_ns']}"


def _fleet(q: Query) -> str:
    return f"fleet = '{q['fleet']}' AND name IS NOT NULL AND {_within(q)}"


def _sessions(q: Query) -> str:
    bucket = f"time // {q['bucket_ns']} AS bucket"
    means = f"SELECT name, {bucket}, avg(velocity) AS v FROM readings WHERE {_fleet(q)} GROUP BY name, bucket"
    return (
        f"SELECT name AS key, count(v) AS n FROM ({means}) WHERE v > 1 GROUP BY name HAVING n > {q['limit']}"
    )


SQL: dict[str, Callable[[Query], str]] = {
    "last-loc": lambda q: _last("latitude, longitude", "readings", _fleet(q)),
    "low-fuel": lambda q: _last("fuel_state", "diagnostics", f"fuel_state <= {q['limit']} AND {_fleet(q)}"),
    "high-load": lambda q: (
        _last("current_load, load_capacity", "diagnostics", _fleet(q))
        + f" AND current_load >= {q['limit']} * load_capacity"
    ),
    "stationary-trucks": lambda q: (
        f"SELECT name AS key, avg(velocity) AS v FROM readings WHERE {_fleet(q)}"
        f" GROUP BY name HAVING v < {q['limit']}"
    ),
    "long-driving-sessions": _sessions,
    "avg-load": lambda q: (
        "SELECT fleet || ' ' || model AS key, avg(current_load / load_capacity) AS v FROM diagnostics"
        f" WHERE fleet IS NOT NULL AND model IS NOT NULL AND {_within(q)} GROUP BY key"
    ),
}


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the queries once and return the folder of the run."""
    need_benchload()
    results = tmp_path_factory.mktemp("iot") / "results"
    chosen = {
        "system": "influxdb-1.8.10",
        "arm": "vanilla",
        "clients": "1",
        "workers": "2",
        "batch_size": "1000",
    }
    sets = [word for name, level in {**chosen, **SIZE}.items() for word in ("--set", f"{name}={level}")]
    done = bench(
        "run", "cnos-vs-influx", "--profile", "smoke", "--results", str(results), *sets, report=False
    )
    if done.returncode == 3:
        pytest.skip("InfluxDB 1.8.10 is unavailable here")
    assert done.returncode == 0, done.stderr
    return next((results / "runs").iterdir())


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """Return DuckDB with the same rows."""
    need_benchload()
    folder = tmp_path_factory.mktemp("csv")
    connection = duckdb.connect()
    for table in ("readings", "diagnostics"):
        with (folder / f"{table}.csv").open("wb") as file:
            command = [find_benchload(), "generate", "iot", *FLAGS, "--format", "csv", "--table", table]
            subprocess.run(command, stdout=file, check=True)
        connection.execute(f"CREATE TABLE {table} AS SELECT * FROM read_csv('{file.name}', nullstr = '')")
    return connection


@pytest.mark.parametrize("kind", SQL)
def test_answers_are_those_of_other_sql_over_the_same_rows(
    kind: str, answered: Path, rows: duckdb.DuckDBPyConnection
) -> None:
    lines = (answered / "trials/0000/answers.jsonl").read_text().splitlines()
    answers = {one["id"]: one["rows"] for one in map(json.loads, lines) if one["query_type"] == kind}
    assert len(answers) == 20
    assert any(answers.values()), "empty answers compare nothing"
    [file] = (answered / "queries").glob(f"{kind}-*.jsonl")
    for line in file.read_text().splitlines():
        query = json.loads(line)
        found = _rows(rows, SQL[kind](query))
        given = answers[query["id"]]
        assert [row[:2] for row in given] == [row[:2] for row in found]
        assert [row[2] for row in given] == pytest.approx([row[2] for row in found], rel=1e-9)


def _rows(connection: duckdb.DuckDBPyConnection, statement: str) -> list[list[Any]]:
    asked = connection.execute(statement)
    columns = [column[0] for column in asked.description or ()]
    values = [name for name in columns if name not in ("key", "at")]
    found = []
    for line in asked.fetchall():
        row = dict(zip(columns, line, strict=True))
        for name in values:
            if row[name] is not None:
                key = f"{row['key']} {name}" if len(values) > 1 else row["key"]
                found.append([row.get("at", 0), key, float(row[name])])
    return sorted(found, key=lambda row: (row[1], row[0]))
