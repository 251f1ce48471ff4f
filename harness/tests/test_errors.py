"""Errors: a sentence and a next step."""

from __future__ import annotations

from benchbook.errors import nearest, unknown


def test_nearest() -> None:
    assert nearest("SQLITE", ["sqlite", "duckdb"]) == "sqlite"
    assert nearest("zzz", ["sqlite", "duckdb"]) is None


def test_unknown_names_everything() -> None:
    error = unknown("system", "sqlit", ["sqlite", "duckdb"], "--set")
    assert str(error) == '--set: there is no system "sqlit"; allowed: duckdb, sqlite. Did you mean "sqlite"?'
