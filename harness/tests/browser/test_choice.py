"""A chart with several baselines in a browser: one is shown, a choice draws another, and the address keeps it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbook.analyse.run import Run
from benchbook.report import page
from benchbook.report.charts import ratio
from benchbook.report.notebook import Document
from tests.browser import chromium
from tests.record import synthetic_run

FIGURE = re.compile(r'<figure class="bb-figure([^"]*)" id="[^"]*" data-option="([^"]*)"([^>]*)>')


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chromium.need()
    where = tmp_path_factory.mktemp("choice")
    run_id = synthetic_run.write(where, batch_sizes=(1000, 5000), database=True)
    markup = ratio.chart(Run(where, run_id)).html()
    path = where / "page.html"
    made = page.render(Document(path, "Baselines", "", "en", []), page.bundle(), text=markup)
    path.write_text(made, encoding="utf-8")
    return path


def figures(document: str) -> list[tuple[str, bool, bool]]:
    """Return the baseline of each chart, whether it is drawn, and whether it is shown."""
    return [
        (option, "is-live" in live, "hidden" not in rest) for live, option, rest in FIGURE.findall(document)
    ]


def test_one_is_drawn_until_another_is_chosen(written: Path):
    document, log = chromium.dump(written.as_uri(), 1400)
    assert "CONSOLE" not in log
    found = figures(document)
    assert len(found) == 4
    assert [(live, shown) for _, live, shown in found] == [(True, True), *[(False, False)] * 3]
    assert document.count("<option ") == 4


def test_a_link_leads_to_a_baseline(written: Path):
    third = figures(written.read_text(encoding="utf-8"))[2][0]
    document, log = chromium.dump(f"{written.as_uri()}?baseline={third.replace(' ', '%20')}", 390)
    assert "CONSOLE" not in log
    assert [(option == third) == live == shown for option, live, shown in figures(document)] == [True] * 4


def test_a_choice_draws_it_and_changes_the_address(written: Path):
    choose = """<script type="module">
      const select = document.querySelector(".bb-choice select");
      select.selectedIndex = 1;
      select.dispatchEvent(new Event("change"));
      document.body.dataset.address = location.search;
    </script>"""
    chosen = written.with_name("chosen.html")
    before, _, after = written.read_text(encoding="utf-8").rpartition("</body>")
    chosen.write_text(f"{before}{choose}</body>{after}", encoding="utf-8")
    document, log = chromium.dump(f"{chosen.as_uri()}?other=1", 1400)
    assert "CONSOLE" not in log
    assert [shown for _, _, shown in figures(document)] == [False, True, False, False]
    assert [live for _, live, _ in figures(document)] == [True, True, False, False]
    assert re.search(r'data-address="\?other=1&amp;baseline=[^"&]+"', document)


def test_without_scripts_the_first_is_shown(written: Path):
    assert [shown for _, _, shown in figures(written.read_text(encoding="utf-8"))] == [
        True,
        False,
        False,
        False,
    ]
