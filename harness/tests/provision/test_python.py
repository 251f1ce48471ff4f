"""Embedded systems from the locked environment."""

import sqlite3

import pytest

from benchbook.errors import Unavailable
from benchbook.provision.find import find, preview
from benchbook.provision.request import Request

from .conftest import system


def test_duckdb_is_found_with_its_version_and_digest(embedded_system):
    import duckdb

    found = find(embedded_system, Request())
    assert (found.source, found.version, found.path) == ("python", duckdb.__version__, None)
    assert found.digest.startswith("sha256:")
    assert preview(embedded_system, Request()) == f"use Python package duckdb {duckdb.__version__}"


def test_sqlite_states_the_version_of_its_library_not_of_python():
    sqlite = system(
        name="sqlite", embedded=True, version="3", match="series", source={"python": {"package": "sqlite3"}}
    )
    assert find(sqlite, Request()).version == sqlite3.sqlite_version


def test_another_version_is_not_the_pinned_one():
    other = system(name="duckdb", embedded=True, version="0.9.1", source={"python": {"package": "duckdb"}})
    with pytest.raises(Unavailable, match=r"python: duckdb is .*, not 0\.9\.1"):
        find(other, Request())


def test_a_missing_package_is_told_with_the_command_that_gets_it():
    other = system(name="x", embedded=True, source={"python": {"package": "no-such-binding"}})
    with pytest.raises(Unavailable, match="pip install no-such-binding"):
        find(other, Request())


SPARK = {
    "name": "spark-sql-3.5.7",
    "version": "3.5.7",
    "driver": "spark",
    "source": {"python": {"package": "no-such-server", "program": "bin/spark-submit"}},
}


def test_a_client_that_is_not_installed_is_told_before_anything_else():
    other = system(
        **SPARK, client={"package": "no-such-client", "version": "1.2", "module": "no_such.client"}
    )
    with pytest.raises(Unavailable, match="its client, the Python package no-such-client") as told:
        find(other, Request(given={"spark-sql-3.5.7": "hive2://h:1"}))
    assert "no-such-server==3.5.7 no-such-client==1.2" in told.value.hint
    with pytest.raises(Unavailable, match="is unavailable here"):
        preview(other, Request())


def test_a_client_and_its_server_that_are_both_missing_are_both_told():
    other = system(
        name="vendor-1",
        version="1",
        client={"package": "no-such-client", "version": "1.2", "module": "no_such.client"},
        source={
            "host": {
                "program": "no-such-server",
                "package": "no-such-package",
                "version_command": ["{program}"],
                "version_pattern": "(.*)",
            }
        },
    )
    with pytest.raises(Unavailable, match="its client, the Python package no-such-client") as told:
        find(other, Request())
    assert "no no-such-server on PATH" in told.value.message
    assert "Get the client with: " in told.value.hint
    assert "no-such-client==1.2" in told.value.hint
    assert "apt-get install no-such-package" in told.value.hint


def test_a_server_that_comes_as_a_package_is_told_with_its_command():
    other = system(**SPARK, client={"package": "duckdb", "version": "1", "module": "duckdb"})
    with pytest.raises(Unavailable, match="no package no-such-server") as told:
        find(other, Request())
    assert "pip install" in told.value.hint


def test_the_program_of_such_a_server_is_in_its_package(monkeypatch, tmp_path):
    import duckdb

    monkeypatch.setattr("shutil.which", lambda *_, **__: "/bin/java")
    server = {"python": {"package": "duckdb", "program": "__init__.py"}}
    found = find(system(name="x", version=duckdb.__version__, source=server), Request())
    assert (found.source, found.path.name) == ("python", "__init__.py")
    server["python"]["program"] = "bin/none"
    with pytest.raises(Unavailable, match="has no bin/none"):
        find(system(name="x", version=duckdb.__version__, source=server), Request())
