"""The table of claims in a browser: filters choose rows, the address keeps them, and without scripts all are there."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from statistics import fmean, stdev

import pytest
from scipy import stats

from benchbook.analyse import claims
from benchbook.analyse.run import Run
from benchbook.record import export
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


@pytest.fixture(scope="module")
def exported(table: Path) -> Path:
    """The whole export of the run that the table shows, beside the page."""
    [published] = [one for one in making.shown() if one.experiment == "sqlite-vs-postgres"]
    with opened(Path(), str(published.folder)) as found:
        return export.export_run(found.results, found.run_id, table.with_name("sent"))


def with_script(table: Path, name: str, script: str) -> Path:
    made = table.with_name(name)
    written = table.read_text(encoding="utf-8")
    made.write_text(written.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    return made


SAID = re.compile(r'<small class="bb-own-said">your run: (.*?)</small>')
ONE_CASE = re.compile(r"([\d.e+]+) \(95 % CI ([\d.e+]+)-([\d.e+]+), (\d+) blocks\)")


def test_a_run_from_an_address_is_drawn_beside_each_claim(table: Path, exported: Path):
    """The numbers are those of a Student's interval of the same pairs, and near those of Benchbook's estimate."""
    name = """
      document.querySelector(".bb-own input[type=url]").value = `${location.origin}/sent`;
      document.querySelector(".bb-own form").requestSubmit();"""
    with_script(table, "address.html", name)
    with chromium.serving(table.parent) as address:
        document, log = chromium.dump(f"{address}/address.html", 1400)
    assert "CONSOLE" not in log
    with opened(Path(), f"{exported}/") as found:
        run = Run(found.results, found.run_id)
        judged = [one for one in claims.of_run(run) if one.measured is not None]
    assert f"{len(judged)} of {len(judged)} claims with a ratio have one in this run" in document
    said = SAID.findall(document)
    alone = [one for one in judged if len(one.cells) == 1]
    assert alone
    for one in alone:
        logs = list(one.cells[0].logs.values())
        middle = fmean(logs)
        half = stats.t.ppf(0.975, len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
        wanted = [math.exp(end) for end in (middle, middle - half, middle + half)]
        assert any(
            [float(end) for end in ONE_CASE.fullmatch(words).groups()[:3]] == pytest.approx(wanted, rel=0.006)
            for words in said
            if ONE_CASE.fullmatch(words)
        ), one.id
    several = next(one for one in judged if len(one.cells) > 1)
    ratios = [math.exp(fmean(cell.logs.values())) for cell in several.cells]
    assert (
        f"{float(f'{min(ratios):.3g}'):g} to {float(f'{max(ratios):.3g}'):g} in {len(ratios)} cases" in said
    )
    assert document.count('class="own"') >= sum(len(one.cells) for one in judged)


def test_a_dropped_file_is_drawn_and_one_of_another_experiment_is_not(table: Path, exported: Path):
    values = json.loads((exported / "values.json").read_text())
    drop = """
      // Reading a file takes real time, which the browser's virtual time does not wait for.
      File.prototype.text = async function () { return this.name === "a" ? HELD : "no JSON"; };
      const data = new DataTransfer();
      data.items.add(new File(["x"], "NAME"));
      document.querySelector(".bb-claim-table").dispatchEvent(
        new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));"""

    def dropped(held: object, name: str = "a") -> str:
        script = drop.replace("HELD", json.dumps(json.dumps(held)).replace("<", "\\u003c")).replace(
            "NAME", name
        )
        document, log = chromium.dump(with_script(table, "dropped.html", script).as_uri(), 1400)
        assert "CONSOLE" not in log
        return document

    assert SAID.findall(dropped(values))
    refused = {
        "is a run of another, and this page is about sqlite-vs-postgres": {**values, "experiment": "another"},
        "is not the file values.json of an export": {"kind": "other", "trials": []},
        "its version is 2": {**values, "version": 2},
    }
    for words, held in refused.items():
        document = dropped(held)
        assert words in document
        assert not SAID.findall(document)
    assert "b cannot be shown: it is not JSON." in dropped(values, "b")
    assert 'class="far own-far"' not in dropped(values)
    for trial in values["trials"]:
        if "sqlite" in trial["cell"]:
            for phase in trial["values"].values():
                phase |= {metric: 1e4 * value for metric, value in phase.items() if value}
    far = re.findall(r'class="far own-far" style="(left|right): 0px?;">(.*?)</i>', dropped(values))
    assert far
    assert all(text.startswith("← ") if side == "left" else text.endswith(" →") for side, text in far)


def test_without_scripts_no_run_is_asked_for(table: Path):
    assert '<details class="bb-data bb-own" hidden>' in table.read_text(encoding="utf-8")
