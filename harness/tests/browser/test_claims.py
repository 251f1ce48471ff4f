"""The table of claims in a browser: filters choose rows, the address keeps them, and without scripts all are there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchbook.analyse.run import Run
from benchbook.record.opened import opened
from benchbook.report import page
from benchbook.report.charts import forest
from benchbook.report.notebook import Document
from tests.browser import chromium
from tests.site import checkout as making

ROW = re.compile(r'<li class="bb-row" data-claim="([^"]*)"([^>]*)>')


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the claims of a published run alone."""
    chromium.need()
    [export] = [one for one in making.shown() if one.experiment == "sqlite-vs-postgres"]
    with opened(Path(), str(export.folder)) as found:
        markup = forest.chart(Run(found.results, found.run_id)).html()
    path = tmp_path_factory.mktemp("claims") / "page.html"
    path.write_text(page.render(Document(path, "Claims", "", "en", []), "", text=markup), encoding="utf-8")
    return path


def rows(document: str) -> list[tuple[dict[str, list[str]], bool]]:
    """Return what each row is filtered by, and whether it is shown."""
    return [
        (json.loads(held.replace("&quot;", '"').replace("&amp;", "&")), "hidden" not in rest)
        for held, rest in ROW.findall(document)
    ]


def test_an_address_chooses_rows(table: Path):
    document, log = chromium.dump(f"{table.as_uri()}?answer=reversed", 1400)
    assert "CONSOLE" not in log
    found = rows(document)
    assert {shown for _, shown in found} == {True, False}
    assert all(shown == ("reversed" in held["answer"]) for held, shown in found)
    assert f"{sum(shown for _, shown in found)} of {len(found)} claims</p>" in document


def test_an_address_with_an_unknown_choice_shows_all(table: Path):
    document, log = chromium.dump(f"{table.as_uri()}?answer=nonsense", 390)
    assert "CONSOLE" not in log
    assert all(shown for _, shown in rows(document))


def test_a_choice_changes_the_address(table: Path):
    choose = """<script>{
      const select = document.querySelector(".bb-filter select[name=answer]");
      select.value = "reversed";
      select.dispatchEvent(new Event("change", { bubbles: true }));
      document.body.dataset.address = location.search;
    }</script>"""
    chosen = table.with_name("chosen.html")
    chosen.write_text(
        table.read_text(encoding="utf-8").replace("</body>", f"{choose}</body>"), encoding="utf-8"
    )
    document, log = chromium.dump(f"{chosen.as_uri()}?other=1", 1400)
    assert "CONSOLE" not in log
    assert 'data-address="?other=1&amp;answer=reversed"' in document
    assert {shown for _, shown in rows(document)} == {True, False}


def test_without_scripts_all_rows_are_there_and_no_filter(table: Path):
    written = table.read_text(encoding="utf-8")
    assert rows(written)
    assert all(shown for _, shown in rows(written))
    assert '<form class="bb-filter" hidden' in written


@pytest.mark.parametrize("width", [390, 1400])
def test_the_table_fits(table: Path, width: int):
    with chromium.serving(table.parent) as address:
        seen = chromium.visit(f"{address}/page.html", width)
    assert seen.errors == seen.console == []
    assert seen.content <= width, seen.wide
