"""The data page beside a report: its numbers, its files, and the link to it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from benchbook.analyse.comparison import estimates
from benchbook.analyse.run import Run
from benchbook.report import data, render
from tests.report.parsed import Page


def test_numbers_are_the_estimates(plain: Run):
    rows = list(csv.DictReader(data.numbers_text(plain).splitlines()))
    found = [row for row in rows if (row["phase"], row["metric"]) == ("load", "rows_per_second")]
    expected = [one for one in estimates(plain, "load", "rows_per_second") if one.points]
    assert [row["setup"] for row in found] == [one.cell.label for one in expected]
    assert [float(row["mean"]) for row in found] == [one.value for one in expected]
    assert [int(row["trials"]) for row in found] == [len(one.points) for one in expected]
    assert {row["unit"] for row in found} == {"1/s"}


def test_without_a_data_page_there_is_no_link(plain: Run, monkeypatch):
    monkeypatch.delenv(data.PAGE_VARIABLE, raising=False)
    assert str(data.link()) == ""
    assert "is not shown" in str(data.files(plain))
    monkeypatch.setenv(data.PAGE_VARIABLE, "/somewhere/x-data.html")
    assert "](x-data.html)" in str(data.link())


@pytest.fixture(scope="module")
def written(plain: Run, reports: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report in a file of another name, elsewhere."""
    target = tmp_path_factory.mktemp("elsewhere") / "mine.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchbook.report.render.quarto", lambda: None)
        return render.report(plain.results, plain.run_id, reports, target=target)


def test_it_is_beside_the_report_and_named_after_it(written: Path):
    assert {path.name for path in written.parent.iterdir()} == {
        "mine.html",
        "mine-data.html",
        "mine-numbers.csv",
    }
    links = [found["href"] for tag, found in Page.read(written).tags if tag == "a"]
    assert "mine-data.html" in links


def test_it_has_the_facts_that_the_report_leaves_to_it(written: Path):
    seen = Page.read(written.with_name("mine-data.html"))
    assert seen.unbalanced == []
    assert seen.resources() == []
    sections = [found["id"] for tag, found in seen.tags if tag == "h2"]
    assert sections[:3] == ["files", "trials-and-gaps", "telemetry"]
    assert "rules-of-measurement" in sections
    links = [found["href"] for tag, found in seen.tags if tag == "a" and not found["href"].startswith("#")]
    assert links == ["mine.html", "mine-numbers.csv"]


def test_in_the_folder_of_the_run_it_links_the_run(made, reports: Path, monkeypatch):
    monkeypatch.setattr("benchbook.report.render.quarto", lambda: None)
    run = made(trials=2)
    seen = Page.read(render.data_page(render.report(run.results, run.run_id, reports)))
    links = {found["href"] for tag, found in seen.tags if tag == "a" and not found["href"].startswith("#")}
    assert {"report-numbers.csv", "run.json", "plan.json"} <= links
    folder = run.results / "runs" / run.run_id
    assert all((folder / link).is_file() for link in links)
