"""Embedded systems from the locked environment."""

import sqlite3

import pytest

from benchbook.errors import Unavailable
from benchbook.provision import Request, find, preview

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
