"""Every page as a browser shows it, at the width of a phone and of a desk."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchbook.report import links
from tests.browser import chromium
from tests.site import checkout as making

PAGES = ("index", "methods", "replication", "systems", "defects", "quickstart", "quickstart-data", "report")
CHARTS = {"index": 0, "methods": 0, "replication": 1, "systems": 0, "defects": 1}
"""Charts of the pages that have a known number of them; the others have at least three."""


PUBLISHED = [one.experiment for one in making.shown()]


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("name", PAGES)
def test_a_page(address: str, name: str, width: int):
    seen = chromium.visit(f"{address}/{name}.html", width)
    is_sound(seen, address, width)
    if name in CHARTS:
        assert len(seen.charts) == CHARTS[name]
    else:
        assert len(seen.charts) >= 3


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("name", ["index", "defects", *PUBLISHED])
def test_a_page_of_the_runs_that_we_publish(published: str, name: str, width: int):
    seen = chromium.visit(f"{published}/{name}.html", width)
    is_sound(seen, published, width)
    assert bool(seen.charts) == (name != "index"), "the picture of the index is HTML"


def is_sound(seen: chromium.Visit, address: str, width: int) -> None:
    """Nothing went wrong, nothing came from elsewhere, no chart is empty, nothing is wider than the window."""
    assert seen.errors == []
    assert seen.console == []
    assert [one for one in seen.requests if not one.startswith((f"{address}/", "data:", "blob:"))] == []
    empty = [one["title"] for one in seen.charts if not one["live"] or not one["marks"]]
    assert empty == []
    assert seen.viewport == width
    assert seen.content <= width, seen.wide
    beyond = [one["title"] for one in seen.charts if one["svg"] > width]
    assert beyond == []


def test_the_buttons_of_a_chart_save_it_and_change_its_axis(published: str):
    seen = chromium.visit(f"{published}/cnos-vs-influx.html", 1400, press=True)
    assert seen.tools
    for chart in seen.tools:
        (table, rows), (picture, svg) = sorted(chart["files"].items())
        assert table.endswith(".csv")
        assert picture == table.replace(".csv", ".svg")
        assert len(list(csv.reader(io.StringIO(rows)))) == chart["rows"]
        assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    changed = [chart for chart in seen.tools if len(chart["said"]) == 3]
    assert changed
    for chart in changed:
        first, other, again = chart["said"]
        assert "logarithmic axis" in first == again
        assert other == first.replace("logarithmic axis", "linear axis")
        assert chart["ticks"][0] == chart["ticks"][2] != chart["ticks"][1]


def test_a_chip_hides_a_line_and_shows_it_again(published: str):
    seen = chromium.visit(f"{published}/kline-mysql-vs-kv.html", 1400, press=True)
    chips = [chip for chart in seen.tools for chip in chart["chips"]]
    assert chips
    for before, hidden, pressed, again, pressed_again in chips:
        assert hidden < before == again
        assert (pressed, pressed_again) == ("false", "true")


@pytest.mark.parametrize("name", ["defects", "quickstart", "report"])
def test_opened_as_a_file_its_charts_are_drawn_too(pages: Path, name: str):
    document, log = chromium.dump((pages / f"{name}.html").as_uri(), 1400)
    assert "CONSOLE" not in log
    hidden = len(re.findall('<figure class="bb-figure" [^>]*hidden', document))
    charts = document.count('<figure class="bb-figure') - hidden
    assert charts
    assert document.count('<figure class="bb-figure is-live"') == charts


TRIAL = '<h2 tabindex="-1">Trial '


def test_a_dot_leads_to_the_page_of_its_trial(pages: Path):
    click = """<script>addEventListener("load", () => {
      const look = () => {
        const dots = [...document.querySelectorAll(".is-live .bb-live .mark-symbol path")];
        const dot = dots.find((one) => one.__data__?.href);
        if (!dot) return setTimeout(look, 100);
        dot.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      };
      look();
    });</script>"""
    page = (pages / "quickstart.html").read_text(encoding="utf-8")
    (pages / "clicked.html").write_text(page.replace("</body>", f"{click}</body>"), encoding="utf-8")
    document, log = chromium.dump((pages / "clicked.html").as_uri(), 1400)
    assert "CONSOLE" not in log
    assert TRIAL in document
    assert "<dt>Setup</dt>" in document


@pytest.mark.parametrize("width", [390, 1400])
def test_the_page_of_a_trial(pages: Path, address: str, width: int):
    [path] = (pages / links.FOLDER).glob("*.html")
    place = f"{address}/{links.FOLDER}/{path.name}"
    is_sound(chromium.visit(place, width), address, width)
    document, _ = chromium.dump(f"{path.as_uri()}#trial-0000", width)
    assert f"{TRIAL}0000</h2>" in document
    assert "checks passed</summary>" in document
    assert '<path d="M' in document
    assert f"WHERE trial_id = '{path.stem}/0000'" in document


def test_the_probe_sees_what_it_looks_for(tmp_path: Path):
    chromium.need()
    (tmp_path / "bad.html").write_text(
        '<!DOCTYPE html><html><head><link rel="icon" href="data:,"></head><body><main>'
        '<div style="width:900px">wide</div><img src="http://other.test/x.png">'
        '<figure class="bb-figure"><figcaption>Empty</figcaption></figure>'
        "</main><script>missing();</script></body></html>"
    )
    with chromium.serving(tmp_path) as address:
        seen = chromium.visit(f"{address}/bad.html", 390)
    assert any("missing is not defined" in one for one in seen.errors)
    assert any("other.test" in one for one in [*seen.requests, *seen.errors])
    assert seen.content > 390
    assert [one["live"] for one in seen.charts] == [False]
