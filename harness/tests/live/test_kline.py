"""A run of kline-mysql-vs-kv with the servers of the distribution: tables and packed days return the same bars."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bench import answers, bench, need_benchload, rows


def test_tables_and_packed_days_return_the_same_bars(open_folder: Path):
    need_benchload()
    for program in ("mariadbd", "redis-server"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not on PATH: apt-get install mariadb-server redis-server")
    done = bench(
        "run", "kline-mysql-vs-kv", "--profile", "smoke", "--set", "system=mariadb-10.11,redis-7,sqlite",
        "--set", "arm=published,service-python,vanilla", "--set", "method=corrected", "--set", "in_flight=8",
        "--set", "stocks=2", "--results", str(open_folder),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    digests = answers(open_folder)
    assert len(digests) == 40
    assert {(one["answers"], one["different"]) for one in digests} == {(4, 1)}
    read = rows(
        open_folder,
        "SELECT DISTINCT phase, value FROM measurements WHERE metric = 'rows_per_read' ORDER BY phase",
    )
    assert [(one["phase"], one["value"]) for one in read] == [("long", 1920.0), ("short", 1.0)]
