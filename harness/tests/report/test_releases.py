"""The chart of releases: ratios to the oldest one, in the order of their days."""

from __future__ import annotations

import pytest

from benchbook.report.charts import releases
from benchbook.report.figure import Figure
from benchbook.report.table import Markdown

MEASURED = {"rows per second": ("load", "rows_per_second"), "space": ("trial", "disk_bytes")}


@pytest.fixture
def dated(plain, monkeypatch):
    """Return a run whose two systems pretend to be releases of one."""
    days = {"duckdb": "2024-06-03", "sqlite": "2023-11-14"}
    held = {name: {**one, "released": days[name]} for name, one in plain.systems.items()}
    monkeypatch.setitem(plain.__dict__, "systems", held)
    return plain


def test_releases_are_in_the_order_of_their_days_and_relative_to_the_oldest(dated):
    figure = releases.chart(dated, MEASURED, "Loading")
    assert isinstance(figure, Figure)
    assert "DuckDB" in figure.title
    assert "Times as good as SQLite" in figure.subtitle
    rows = [row for row in figure.table.rows if row[0] == "rows per second"]
    assert [row[2] for row in rows] == ["2023-11-14", "2024-06-03"]
    assert rows[0][4] == "baseline"
    points = figure.spec["datasets"][figure.spec["layer"][-1]["data"]["name"]]
    assert {row["value"] for row in points if row["release"] == "sqlite"} == {1.0}
    assert all(
        row["low"] < row["value"] < row["high"] for row in points if row["release"] == "duckdb" and row["low"]
    )
    assert "DuckDB" in figure.alt


def test_without_days_a_sentence_says_what_is_missing(plain):
    said = releases.chart(plain, MEASURED, "Loading")
    assert isinstance(said, Markdown)
    assert "two releases" in said.markdown
