"""Errors of render, and atomic replacement of a page."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchbook.errors import BenchbookError, RequestError
from benchbook.report import render
from tests.claims import measured_run


def test_an_unknown_format_names_the_nearest(made, reports):
    run = made()
    with pytest.raises(RequestError, match='Did you mean "html"'):
        render.report(run.results, run.run_id, reports, to="htm")


@pytest.mark.parametrize("claimed", [True, False])
def test_an_experiment_without_a_page_gets_the_default_one(tmp_path, monkeypatch, claimed):
    monkeypatch.setattr("benchbook.report.render.quarto", lambda: None)
    measured_run.write(
        tmp_path, "r", {"system": ["a", "b"]}, lambda levels, block: {("load", "rows_per_second"): 1000.0 + block},
        name="mine", declared=measured_run.experiment("cnos-vs-influx") if claimed else None, seconds=lambda *_: 9.0,
    )  # fmt: skip
    page = render.report(tmp_path, "r", tmp_path).read_text(encoding="utf-8")
    assert "<title>mine</title>" in page
    assert ("Of 5 claims: " in page) == claimed
    assert "Rows loaded per second: a is not clearly ahead of b" in page  # a claim leaves the charts in place


def test_an_unknown_run_is_named(made, reports):
    run = made()
    with pytest.raises(RequestError, match="no run"):
        render.report(run.results, "quickstart-gone", reports)


def test_a_page_that_fails_leaves_the_old_one(made, tmp_path, monkeypatch):
    monkeypatch.setattr("benchbook.report.render.quarto", lambda: None)
    run = made()
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "quickstart.qmd").write_text("```{python}\n1 / 0\n```\n", encoding="utf-8")
    old = run.results / "runs" / run.run_id / "report.html"
    old.write_text("old", encoding="utf-8")
    with pytest.raises(BenchbookError, match=r"quickstart\.qmd: cell 0 \(1 / 0\)"):
        render.report(run.results, run.run_id, folder)
    assert old.read_text(encoding="utf-8") == "old"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(RequestError, match="cannot write the report"):
        render.write(tmp_path / "report.html", "x")


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    with pytest.raises(RequestError, match="cannot write the report"):
        render.write(tmp_path / "gone" / "report.html", "x")


def test_an_executed_notebook(made, reports, monkeypatch):
    monkeypatch.setattr("benchbook.report.render.quarto", lambda: None)
    run = made()
    path = render.report(run.results, run.run_id, reports, to="ipynb")
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["nbformat"] == 4
    assert any(
        "image/svg+xml" in output.get("data", {})
        for cell in found["cells"]
        for output in cell.get("outputs", [])
    )


def test_a_drawing_of_several_figures_holds_each_below_its_title(plain):
    import xml.etree.ElementTree as ET

    from benchbook.report import figure
    from benchbook.report.charts import strip

    charts = [strip.throughput(plain), strip.throughput(plain, "settled_seconds")]
    drawn = ET.fromstring(figure.shown(*charts)._repr_mimebundle_()["image/svg+xml"])
    space = "{http://www.w3.org/2000/svg}"
    places = [float(one.get("y")) for one in drawn if one.tag == f"{space}svg"]
    heights = [float(one.get("height")) for one in drawn if one.tag == f"{space}svg"]
    assert len(places) == 2
    assert places[0] + heights[0] < places[1] <= float(drawn.get("height")) - heights[1]
    words = " ".join(one.text for one in drawn if one.tag == f"{space}text")
    assert all(one.title in words for one in charts)


def contents(folder):
    return {
        path.name: path.read_bytes() if path.is_file() and not path.is_symlink() else path.lstat().st_ino
        for path in sorted(folder.iterdir())
    }


@pytest.mark.parametrize("kind", ["html", "csv", "folder", "link", "dangling", "pipe", "text"])
@pytest.mark.parametrize("name", ["mine.html", "mine-data.html", "mine-numbers.csv"])
def test_what_is_no_report_is_not_replaced(plain, reports, tmp_path, name, kind):
    place, other = tmp_path / "place", tmp_path / "other"
    place.mkdir(), other.write_text("precious")
    path = place / name
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind in ("link", "dangling"):
        path.symlink_to(other if kind == "link" else tmp_path / "gone")
    else:
        path.write_text({"html": "<html><title>Mine</title>", "csv": "a,b\n1,2\n", "text": "x"}[kind])
    before = contents(place)
    with pytest.raises(RequestError, match="Nothing was written"):
        render.report(plain.results, plain.run_id, reports, target=place / "mine.html")
    assert contents(place) == before
    assert other.read_text() == "precious"
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("target", ["", "new/../..", "\0", "x" * 300])
def test_a_place_without_a_name_is_a_sentence(plain, reports, tmp_path, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RequestError):
        render.report(plain.results, plain.run_id, reports, target=Path(target))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_an_earlier_report_is_replaced_and_no_link_is_followed(made, reports, tmp_path, monkeypatch):
    monkeypatch.setattr("benchbook.report.render.quarto", lambda: None)
    run = made()
    target = tmp_path / "new" / "mine.html"
    for _ in range(2):
        assert render.report(run.results, run.run_id, reports, target=target) == target
    assert sorted(path.name for path in target.parent.iterdir()) == [
        "mine-data.html",
        "mine-numbers.csv",
        "mine.html",
    ]
    (tmp_path / "other").write_text("precious")
    link = run.results / "runs" / run.run_id / "report-numbers.csv"
    link.unlink(missing_ok=True)
    link.symlink_to(tmp_path / "other")
    with pytest.raises(RequestError, match=r"report-numbers\.csv is a link"):
        render.report(run.results, run.run_id, reports)
    assert (tmp_path / "other").read_text() == "precious"
