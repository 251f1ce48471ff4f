"""Comparison of one tool with the others, in a run whose factor is the tool."""

from __future__ import annotations

import pytest

from benchbook.analyse.run import Run, open_run
from benchbook.record import database
from benchbook.report.story import story
from benchbook.report.table import Markdown

tools = story("load-tools")


@pytest.fixture
def commands(made) -> Run:
    """A run whose load is a timed command; its systems represent the tools."""
    run = made(systems=("duckdb", "sqlite", "influxdb-1.8.10"))
    with database.open(run.results) as connection:
        connection.execute("UPDATE phases SET workload = 'command' WHERE phase = 'load'")
    return open_run(run.results, run.run_id)


def test_each_other_tool_is_a_row_with_its_interval(commands):
    figure = tools.chart(commands, "duckdb", factor="system").figures[0]
    assert [row[0] for row in figure.table.rows] == ["sqlite", "influxdb-1.8.10"]
    for row in figure.table.rows:
        ratio, low, high = (
            float(part) for part in row[2].replace("(", "").replace(")", "").replace("to ", "").split()
        )
        assert low < ratio < high
    assert "Vega-Lite" not in figure.html()
    assert figure.alt.startswith("How many times as good duckdb is as each other tool: load")


def test_the_findings_turn_over_with_the_tool(commands):
    fast = tools.findings(commands, "duckdb", factor="system").markdown
    slow = tools.findings(commands, "sqlite", factor="system").markdown
    assert "times as good as sqlite" in fast
    assert "times as good as duckdb" in slow
    assert "0." in slow


def test_the_answer_is_one_sentence_with_the_range_of_each_phase(commands):
    said = tools.answer(commands, "duckdb", factor="system").markdown
    assert said.startswith("Rows per second of duckdb compared with the other tools: ")
    assert "times as many at load (clear for 2 of 2)." in said


def test_a_tool_that_was_not_measured_is_told(commands):
    for made in (
        tools.chart(commands, "inch", factor="system"),
        tools.findings(commands, "inch", factor="system"),
    ):
        assert isinstance(made, Markdown)
        assert "inch and another tool were not measured" in made.markdown
