"""Spark SQL, where its package and its client are installed: its bars are those of SQLite."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from bench import answers, bench, need_benchload


def test_spark_returns_the_bars_of_sqlite(tmp_path: Path):
    need_benchload()
    for module in ("pyspark", "impala"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"no Python package {module}: ./bench plan kline-mysql-vs-kv says how to get it")
    done = bench(
        "run", "kline-mysql-vs-kv", "--profile", "smoke", "--set", "system=spark-sql-3.5.7,sqlite",
        "--set", "arm=vanilla", "--set", "method=corrected", "--set", "in_flight=4", "--set", "stocks=2",
        "--results", str(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    digests = answers(tmp_path)
    assert {(one["answers"], one["different"]) for one in digests} == {(2, 1)}
