"""The validation of answers in a report: the matrix, the answers side by side, the differences, and the flag."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchbook.analyse import same_work
from benchbook.analyse.cells import FLAG, labelled
from benchbook.analyse.run import Run
from benchbook.report import notebook
from benchbook.report.charts import order, strip, telemetry
from benchbook.report.figure import Figures
from benchbook.report.table import Markdown, Table
from benchbook.report.tables import numbers, work

THREE = ("duckdb", "sqlite", "influxdb-1.8.10")


def test_systems_that_agree_are_said_to(made):
    run = made(systems=THREE)
    found = work.matrix(run)
    assert isinstance(found, Table)
    assert list(found.columns) == ["System", "1-host-1-hr", "1-host-12-hr", "8-host-1-hr", "groupby"]
    assert len(found.rows) == 3
    assert {text for row in found.rows for text in row[1:]} == {"same, 20 of 20"}
    assert isinstance(work.differences(run), Markdown)
    assert "3 gave the same answers to all 80 compared queries" in work.agreement_sentence(run).markdown
    assert not same_work.of_run(run).flagged
    assert not any(FLAG in one.label for one in labelled(run))


def test_the_one_that_differs_is_named_in_the_matrix_the_table_and_every_chart(made):
    run = made(systems=THREE, wrong_answers_of="sqlite")
    found = work.matrix(run)
    assert isinstance(found, Table)
    assert {row[0]: set(row[1:]) for row in found.rows} == {
        "DuckDB 1.5.6": {"same, 20 of 20"},
        "InfluxDB 1.8.10": {"same, 20 of 20"},
        "SQLite 3.45.1": {"differs, 1 of 20"},
    }
    places = work.differences(run)
    assert isinstance(places, Table)
    assert {row[0] for row in places.rows} == {"SQLite 3.45.1"}
    assert len(places.rows) == 4
    for row in places.rows:
        assert row[2] == "3"
        assert float(row[4]) - float(row[5].rpartition(" ")[2]) == 0.5
        assert row[3].startswith("2026-01-01 ")
    assert same_work.of_run(run).flagged == {("sqlite", "vanilla")}
    assert "2 gave the same answers to all 80 compared queries" in work.agreement_sentence(run).markdown
    assert (
        "SQLite 3.45.1: a different answer, or none, to 4 of them." in work.agreement_sentence(run).markdown
    )
    flagged = {one.system for one in labelled(run) if one.label.endswith(FLAG)}
    assert flagged == {"sqlite"}
    assert FLAG.strip() in str(strip.throughput(run))
    asked = numbers.queries(run)
    assert isinstance(asked, Table)
    assert [row[0] for row in asked.rows if FLAG in row[0]] == ["SQLite 3.45.1" + FLAG]


def shown(report: Path, run: Run) -> Iterator[Any]:
    """Execute a report's cells against ``run``; return what each shows."""
    names: dict[str, Any] = {}
    for one in notebook.read(report).cells:
        if "open_run()" in one.source:
            exec(one.source.replace("open_run()", "None"), names)
            names["run"] = run
        else:
            yield eval(one.source, names)


def test_the_one_that_differs_is_named_in_every_chart_of_the_suite_whatever_else_varies(made, reports: Path):
    run = made(systems=THREE, wrong_answers_of="sqlite", batch_sizes=(1000, 5000))
    name, drawn = "SQLite 3.45.1", []
    for found in [*shown(reports / "devops-suite.qmd", run), telemetry.chart(run), order.chart(run)]:
        for figure in found.figures if isinstance(found, Figures) else ():
            # Join the lines of a row's label.
            spec = json.dumps(figure.spec, ensure_ascii=False).replace('\\"', '"')
            spec = spec.replace(f'"{name}", "(', f'"{name} (')
            texts = [spec, figure.alt, figure.title, str(figure.table.rows)]
            for text in texts:
                assert text.count(name) == text.count(name + FLAG), figure.title
            if name in texts[0]:
                drawn.append(figure.title.partition(":")[0])
    wanted = {
        "Rows loaded per second", "Smallest data on disk", "Median latency, one host for one hour",
        "Median latency, all hosts grouped", "Effect of the position within a block",
    }  # fmt: skip
    assert wanted <= set(drawn)
    assert len(drawn) > len(wanted), "telemetry too"


def test_two_that_differ_are_undecided_and_not_compared(made):
    run = made(wrong_answers_of="sqlite")
    found = work.matrix(run)
    assert isinstance(found, Table)
    assert {text for row in found.rows for text in row[1:]} == {"undecided, 1 of 20"}
    assert isinstance(numbers.queries(run), Markdown)
    assert not any(FLAG in one.label for one in labelled(run))


def test_answers_stand_side_by_side_with_one_column_a_system(made):
    run = made(systems=THREE, wrong_answers_of="sqlite")
    found = work.side_by_side(run)
    assert isinstance(found, Table)
    assert list(found.columns[1:]) == [one.label.removesuffix(FLAG) for one in labelled(run)]
    assert len(found.rows) == 5
    for row in found.rows:
        assert row[0].startswith("2026-01-01 ")
        assert len(set(row[1:])) == 1


def test_one_system_has_nobody_to_be_held_against(made):
    assert isinstance(work.matrix(made(systems=("duckdb",))), Markdown)
