"""Errors: a sentence and a next step."""

from __future__ import annotations

from benchbook.errors import nearest, unknown


def test_nearest() -> None:
    assert nearest("SQLITE", ["sqlite", "duckdb"]) == "sqlite"
    assert nearest("zzz", ["sqlite", "duckdb"]) is None


def test_of_many_names_only_the_nearest_are_listed() -> None:
    error = unknown("system", "sqlit", ["sqlite", *(f"other-{number}" for number in range(50))])
    assert str(error).startswith('There is no system "sqlit"; of 51, the nearest are sqlite, ')
    assert len(str(error)) < 160
    assert error.hint == 'Did you mean "sqlite"?'


def test_unknown_names_everything() -> None:
    error = unknown("system", "sqlit", ["sqlite", "duckdb"], "--set")
    assert str(error) == '--set: there is no system "sqlit"; allowed: duckdb, sqlite. Did you mean "sqlite"?'
