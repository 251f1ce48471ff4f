"""Servers that benchload asks (MongoDB, Cassandra), with a script in place of benchload."""

import json

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems.driver import TableCount
from benchbook.systems.mongodb import driver


@pytest.fixture
def asked(place, tmp_path):
    """Return a driver, and a function that sets the output of its benchload."""
    one = driver(place("mongodb-7.0", "7.0", url="mongodb://db:27017"))
    benchload = tmp_path / "benchload"

    def answer(content="", code=0, error=""):
        benchload.write_text(
            f"#!/bin/sh\necho \"$@\" > {tmp_path}/arguments\ncat <<'E'\n{json.dumps(content)}\nE\n"
            f"echo '{error}' >&2\nexit {code}\n"
        )
        benchload.chmod(0o755)

    answer()
    one.client(benchload)
    return one, answer


def test_the_version_is_read_by_benchload(asked, tmp_path):
    one, answer = asked
    answer({"version": "7.0.14"})
    assert one.version() == "7.0.14"
    assert (tmp_path / "arguments").read_text().strip() == (
        "inspect --target mongodb --url mongodb://db:27017 --database benchbook --timeout 30s"
    )


def test_tables_are_counted_by_benchload(asked, tmp_path):
    one, answer = asked
    answer(
        {
            "version": "7",
            "tables": {"cpu": {"rows": 12, "fields": {"user": 7}}, "mem": {"rows": 0, "fields": None}},
        }
    )
    assert one.count() == {"cpu": TableCount(12, {"user": 7}), "mem": TableCount(0, {})}
    assert (tmp_path / "arguments").read_text().strip().endswith("--timeout 900s --count")
    with pytest.raises(TrialFailed, match="already holds data: cpu"):
        one.prepare()
    answer({"version": "7", "tables": None})
    one.prepare()


def test_it_is_ready_when_benchload_reaches_it(asked):
    one, answer = asked
    answer(code=1, error="benchload: no reachable server")
    assert not one.ready()
    with pytest.raises(TrialFailed, match=r"mongodb-7.0 at mongodb://db:27017: no reachable server\."):
        one.version()
    answer({"version": "7.0.14"})
    assert one.ready()
