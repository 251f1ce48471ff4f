"""A page from end to end: a synthetic run is rendered to one HTML file, which a parser reads."""

from __future__ import annotations

import json
import math
import re
import statistics
from pathlib import Path

import pytest

from benchbook.analyse import interval, quantity
from benchbook.analyse.run import Run
from benchbook.record import database
from benchbook.report import render
from tests.report.parsed import Page

EVIL = "<script>alert('x')</script><img src=x onerror=alert(1)> *a* [b](http://evil.test) `c` | $d$"


@pytest.fixture(scope="module")
def without_quarto():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchbook.report.render.quarto", lambda: None)
        yield


@pytest.fixture(scope="module")
def page(plain: Run, reports: Path, without_quarto: None):
    """The quickstart page of the ordinary run, rendered once for all tests that only read it."""
    return Page.read(render.report(plain.results, plain.run_id, reports))


def test_it_is_one_file_that_fetches_nothing(page):
    assert page.resources() == []
    assert "@import" not in page.markup.split("</style>")[0]
    assert "url(http" not in page.markup.split("</style>")[0]


def test_its_elements_are_balanced(page):
    assert page.unbalanced == []
    assert page.open == []


def test_it_carries_the_code_for_charts_once(page):
    bundles = [code for found, code in page.scripts if "vegaEmbed=" in code.replace(" ", "")]
    assert len(bundles) == 1
    runnable = [found for found, _ in page.scripts if found.get("type") != "application/json"]
    assert len(runnable) == 1


def test_title_and_sections(page):
    assert "Quickstart: loading and querying DevOps telemetry" in page.text
    sections = [found["id"] for tag, found in page.tags if tag == "h2"]
    assert sections == ["finding", "what-was-measured", "this-run", "more-about-this-run"]
    contents = Page(page.markup.partition('<nav class="bb-contents"')[2].partition("</nav>")[0])
    assert [found["href"] for tag, found in contents.tags if tag == "a"] == [f"#{name}" for name in sections]
    permalinks = {found["href"] for _, found in page.having("class", "bb-permalink")}
    assert permalinks >= {f"#{name}" for name in sections}


def test_every_chart_has_words_a_table_a_drawing_and_data(page):
    figures = page.having("class", "bb-figure")
    assert 3 <= len(figures) <= 5
    charts = page.having("class", "bb-chart")
    assert len(charts) == len(figures)
    for _, found in charts:
        assert found["role"] == "img"
        assert any(character.isdigit() for character in found["aria-label"])
    assert page.markup.count("<summary>Table</summary>") == len(figures)
    assert page.markup.count('<div class="bb-static"><svg') == len(figures)
    specs = [json.loads(code) for found, code in page.scripts if found.get("class") == "bb-spec"]
    assert len(specs) == len(figures)
    for spec in specs:
        layers = spec.get("layer", [spec])
        assert any(
            layer["data"].get("values") or layer["data"].get("name")
            for layer in [*layers, spec]
            if "data" in layer
        )


def test_numbers_are_those_of_the_database(page, plain: Run):
    with database.open(plain.results, read_only=True) as connection:
        rows = connection.execute(
            "SELECT system, list(value) FROM measurements JOIN trials USING (trial_id) "
            "WHERE phase = 'load' AND metric = 'rows_per_second' AND status = 'ok' GROUP BY system ORDER BY system"
        ).fetchall()
    means = {system: interval.mean_log(values).value for system, values in rows}
    for system, values in rows:
        assert f"{quantity.number(means[system])} rows/s" in page.text
        for value in values:
            assert f"{quantity.number(value)} rows/s" in page.text
    stated = re.search(r"is ([\d.]+) times as fast as SQLite", page.text)
    assert stated is not None
    assert float(stated[1]) == pytest.approx(means["duckdb"] / means["sqlite"], rel=0.02)


def test_drawings_take_the_colour_of_the_page(page):
    drawn = page.markup.partition('<div class="bb-static">')[2].partition("</svg>")[0]
    assert 'fill="currentColor"' in drawn
    assert 'fill="white"' not in drawn
    assert "prefers-color-scheme: dark" in page.markup


def test_names_inside_drawings_are_their_own(page):
    names = [found["id"] for _, found in page.tags if found.get("id")]
    assert len(names) == len(set(names))


def test_no_mention_of_the_machine_that_rendered_it(page, plain: Run, reports: Path):
    assert str(plain.results) not in page.markup
    assert str(reports) not in page.markup


def test_rendered_twice_it_has_the_same_bytes(plain: Run, reports: Path, without_quarto: None, page):
    target = plain.results / "runs" / plain.run_id / "report.html"
    before = target.read_bytes()
    render.report(plain.results, plain.run_id, reports)
    assert target.read_bytes() == before
    left = [file.name for file in target.parent.iterdir() if file.name.startswith(".report")]
    assert left == []


def test_gaps_are_shown_with_their_reasons_and_nothing_in_them_is_markup(
    made, reports: Path, without_quarto: None
):
    run = made(
        systems=("duckdb", "sqlite", "influxdb-1.8.10"),
        status={0: ("failed", EVIL), 1: ("skipped", "no influxd")},
    )
    _poison(run.results, run.run_id)
    page = Page.read(render.report(run.results, run.run_id, reports))
    assert " ".join(EVIL.split()) in page.text
    assert "no influxd" in page.text
    runnable = [code for found, code in page.scripts if found.get("type") != "application/json"]
    assert len(runnable) == 1
    assert "alert('x')" not in runnable[0]
    assert "<img" not in page.markup.partition("<main")[2].partition('id="bb-bundle"')[0]
    assert not [found for tag, found in page.tags if tag == "img" or "onerror" in found]
    assert not [found for tag, found in page.tags if tag == "a" and "evil" in found["href"]]
    assert page.resources() == []


def _poison(results: Path, run_id: str) -> None:
    """Put hostile text wherever data can contain text."""
    with database.open(results) as connection:
        connection.execute("UPDATE runs SET question = ? || '?', title = ?", [EVIL, EVIL])
        connection.execute("UPDATE run_facts SET value = replace(value, 'performance', ?)", [_quoted(EVIL)])
        connection.execute("UPDATE run_facts SET value = replace(value, 'SQLite 3.45.1', ?)", [_quoted(EVIL)])


def _quoted(text: str) -> str:
    return json.dumps(text)[1:-1]


def test_differing_answers_refuse_the_comparison_and_show_the_rows(made, reports: Path, without_quarto: None):
    run = made(wrong_answers_of="sqlite")
    page = Page.read(render.report(run.results, run.run_id, reports))
    assert "times as fast" not in page.text
    assert "so their speeds are not comparable" in page.text
    assert "Rows loaded per second is not shown" in page.text
    assert "max_usage_user" in page.text
    assert page.text.count("max_usage_user") >= 4


def test_a_run_without_any_trial_still_gives_a_page(made, reports: Path, without_quarto: None):
    run = made(trials=0, finished=False)
    page = Page.read(render.report(run.results, run.run_id, reports))
    assert "No answer: this run has no valid trial" in page.text
    assert page.having("class", "bb-figure") == []
    assert "vegaEmbed" not in page.markup
    assert "bench resume" in page.text


def test_ratio_in_the_answer_is_the_geometric_mean_of_paired_blocks(page, plain: Run):
    rates = {cell.system: plain.values(cell, ("load", "rows_per_second")).by_block for cell in plain.cells}
    by = {(system, block): rate for system, held in rates.items() for block, rate in held.items()}
    blocks = sorted(rates["duckdb"])
    logs = [math.log(by["duckdb", block] / by["sqlite", block]) for block in blocks]
    stated = re.search(r"DuckDB 1\.5\.6 is ([\d.]+) times as fast", page.text)
    assert stated is not None
    assert float(stated[1]) == pytest.approx(math.exp(statistics.mean(logs)), rel=0.005)
