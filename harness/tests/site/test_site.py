"""The site: rendered from only the checkout, reproducible, with valid links."""

from __future__ import annotations

import csv
import hashlib
import re
import shutil
from pathlib import Path

import pytest

from benchbook.cli.app import run
from benchbook.declare.catalogue import root
from benchbook.errors import RequestError
from benchbook.report import links
from benchbook.site import index, place, render
from tests.report.parsed import Page
from tests.site import checkout as making

PAGES = ("index", "methods", "replication", "systems", "defects", "quickstart", "quickstart-data")


@pytest.fixture
def without_quarto(monkeypatch):
    monkeypatch.setattr("benchbook.report.render.quarto", lambda: None)


def digests(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_it_has_every_page(site: Path):
    names = {path.name for path in site.iterdir()}
    assert names == {place.MARK, place.SCRIPT, place.DATA, links.FOLDER, *(f"{name}.html" for name in PAGES)}
    runs = {path.name for path in (site / place.DATA).glob("*/*")}
    assert {path.stem for path in (site / links.FOLDER).iterdir()} == runs


def test_rendered_twice_it_has_the_same_bytes(
    site: Path, checkout: Path, tmp_path, without_quarto, monkeypatch
):
    monkeypatch.setenv("BENCHBOOK_RESULTS", str(tmp_path / "no results here"))
    again = render.site(checkout, tmp_path / "site")
    assert digests(again) == digests(site)
    assert digests(render.site(checkout, again)) == digests(site)


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_pages_and_nothing_is_fetched(site: Path, name: str):
    page = Page.read(site / f"{name}.html")
    assert page.unbalanced == []
    assert set(page.resources()) <= {render.SCRIPT}
    links = [found["href"] for tag, found in page.tags if tag == "a"]
    inside = [link for link in links if not link.startswith(("#", "https://"))]
    assert {"index.html", "methods.html", "systems.html", "defects.html"} <= set(inside)
    for link in inside:
        assert (site / link.partition("#")[0]).is_file(), link
    names = [found["id"] for _, found in page.tags if found.get("id")]
    assert len(names) == len(set(names))
    assert {link[1:] for link in links if link.startswith("#")} <= set(names)


def test_the_page_of_trials_links_files_and_pages_that_exist(site: Path):
    [path] = (site / links.FOLDER).glob("*.html")
    page = Page.read(path)
    assert page.resources() == []
    inside = [
        found["href"] for tag, found in page.tags if tag == "a" and not found["href"].startswith("https://")
    ]
    assert {"../index.html", "../quickstart.html"} <= set(inside)
    names = {found["id"] for _, found in page.tags if found.get("id")}
    for link in inside:
        file, _, name = link.partition("#")
        assert (path.parent / file).is_file() if file else name in names, link
    assert path.stat().st_size < 600_000


def test_a_trial_is_linked_from_the_data_page_and_exists(site: Path):
    page = Page.read(site / "quickstart-data.html")
    found = [
        one["href"] for tag, one in page.tags if tag == "a" and one["href"].startswith(f"{links.FOLDER}/")
    ]
    assert found
    for link in found:
        file, _, name = link.partition("#")
        assert f'<tr id="{name}">' in (site / file).read_text()


def test_no_page_names_the_machine_that_rendered_it(site: Path, checkout: Path):
    for path in site.rglob("*.html"):
        markup = path.read_text(encoding="utf-8")
        for private in (str(checkout), str(site), str(making.ROOT), "benchbook-site-"):
            assert private not in markup, path.name


def test_the_index_shows_every_comparison_of_a_test_of_the_tool(site: Path):
    page = Page.read(site / "index.html")
    cards = page.having("class", "bb-card")
    assert len(cards) == 1
    assert "SQLite 3.45.1 compared with DuckDB 1.5.6: Rows loaded per second: worse" in page.text
    assert "DuckDB 1.5.6 was better than SQLite 3.45.1" in page.text
    assert len(re.findall(r"<summary>All \d+ comparisons</summary>", page.markup)) == 1


def test_a_page_says_who_when_and_from_what(site: Path):
    page = Page.read(site / "quickstart.html")
    metas = [found for tag, found in page.tags if tag == "meta"]
    names = {found.get("name") or found.get("property"): found.get("content") for found in metas}
    assert names["description"] == names["og:description"] == names["twitter:description"]
    assert names["og:title"] == "Quickstart: loading and querying DevOps telemetry"
    foot = Page(page.markup.partition("<footer")[2].partition("</footer>")[0])
    for part in ("By The Benchbook authors", "licence Apache-2.0", "revision", "@misc{benchbook-quickstart,"):
        assert part in foot.text
    assert ("a", "quickstart-data.html") in [(tag, found.get("href")) for tag, found in foot.tags]


def test_the_data_page_links_the_files_of_the_run(site: Path):
    page = Page.read(site / "quickstart-data.html")
    links = {found["href"] for tag, found in page.tags if tag == "a"}
    [numbers] = [link for link in links if link and link.endswith("/numbers.csv")]
    assert numbers.rpartition("/")[0] + "/run.json" in links  # no run can have this name
    assert [link for link in links if link and link.endswith("/tables/measurements.parquet")]
    rows = list(csv.DictReader((site / numbers).read_text().splitlines()))
    loaded = [row for row in rows if (row["phase"], row["metric"]) == ("load", "rows_per_second")]
    assert {row["system"] for row in loaded} == {"duckdb", "sqlite"}
    assert all(float(row["low"]) <= float(row["mean"]) <= float(row["high"]) for row in loaded)


def test_only_pages_that_changed_are_rendered_again(
    site: Path, checkout: Path, tmp_path, without_quarto, monkeypatch
):
    copy, output = tmp_path / "checkout", tmp_path / "site"
    shutil.copytree(checkout, copy, symlinks=True)
    shutil.copytree(site, output)
    executed = []
    run = render.notebook.execute

    def counted(works, folder, finished):
        executed.extend(one.path.name for work in works for one in work.documents)
        run(works, folder, finished)

    monkeypatch.setattr(render.notebook, "execute", counted)
    render.site(copy, output)
    assert executed == []
    assert digests(output) == digests(site)
    changed = copy / "reports" / "systems.qmd"
    changed.write_text(changed.read_text() + "\nOne more sentence.\n")
    render.site(copy, output)
    assert executed == ["systems.qmd"]
    assert "One more sentence." in (output / "systems.html").read_text()


def test_the_pages_of_one_experiment_are_rendered_alone(site: Path, checkout: Path, tmp_path, without_quarto):
    made = render.site(checkout, tmp_path / "site", only="quickstart")
    assert {path.name for path in made.glob("*.html")} == {"quickstart.html", "quickstart-data.html"}
    assert (made / "quickstart.html").read_bytes() == (site / "quickstart.html").read_bytes()
    whole = tmp_path / "whole"
    shutil.copytree(site, whole)
    notes = []
    render.site(checkout, whole, notes.append, only="quickstart")
    assert notes == ["unchanged: 7 of 7 pages"]
    assert digests(whole) == digests(site)


def test_an_experiment_without_a_page_names_the_nearest(checkout: Path, tmp_path):
    with pytest.raises(RequestError, match='no experiment with a published run "quikstart"') as caught:
        render.site(checkout, tmp_path / "site", only="quikstart")
    assert caught.value.hint == 'Did you mean "quickstart"?'


def test_an_experiment_that_has_no_published_run_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for part in ("datasets", "systems", "storage", "harness", "experiments"):
        (tmp_path / part).symlink_to(root() / part)
    monkeypatch.setenv("BENCHBOOK_ROOT", str(tmp_path))
    assert run(["site", "quickstart", "--output", str(tmp_path / "site")]) == 2
    said = capsys.readouterr().err
    assert "quickstart has no published run" in said
    assert "export RUN --publish" in said


def test_the_methods_hold_every_rule_and_a_mark_for_each(site: Path):
    page = Page.read(site / "methods.html")
    for number in range(1, 20):
        assert f"{number}. " in page.text
    assert "✓ kept" in page.text
    assert "there is no A/A run of this experiment on this processor" in page.text


def test_the_defects_hold_the_raw_data_read_again(site: Path):
    page = Page.read(site / "defects.html")
    assert "QData had 390 operations in flight" in page.markup
    assert "MinIO through s3fs" in page.text


def test_without_a_published_run_the_page_shows_the_command(tmp_path, without_quarto):
    made = render.site(making.make(tmp_path, empty=True), tmp_path / "site")
    page = Page.read(made / "index.html")
    assert "There is no published run yet. To run one: ./bench run quickstart" in page.text
    assert not (made / "quickstart.html").exists()


def test_what_is_not_a_site_is_not_replaced(tmp_path, checkout: Path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("mine")
    with pytest.raises(RequestError, match=r"that `.*bench site` did not write"):
        render.site(checkout, mine)
    assert (mine / "thesis.txt").read_text() == "mine"


def test_the_bar_marks_where_one_is():
    assert index.navigation("methods").count("aria-current") == 1
    assert 'href="index.html" aria-current="page"' in index.navigation("quickstart")
