"""The index of the runs that we publish: claims in words, verdicts that add up, and one picture of all comparisons."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchbook.analyse import claims
from benchbook.analyse.run import RESULTS_VARIABLE
from benchbook.declare.catalogue import Catalogue
from benchbook.declare.defects import publications
from benchbook.errors import RequestError
from benchbook.report import claim
from benchbook.report.table import Block, escape_html
from benchbook.site import copied, defects, index, outcome, published
from tests.site import checkout as making

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module", autouse=True)
def results(tmp_path_factory: pytest.TempPathFactory):
    made = published.results(making.every(), tmp_path_factory.mktemp("published") / "results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHBOOK_ROOT", str(ROOT))
        patch.setenv(RESULTS_VARIABLE, str(made))
        yield made


@pytest.mark.slow
def test_the_title_counts_the_comparisons():
    pages = index.pages(ROOT, making.shown())
    assert pages[0].title == index.title(len(index.comparisons()))
    smoke = [replace(one, profile="smoke") for one in making.shown()]
    assert index.pages(ROOT, smoke)[0].title == index.title(0)
    assert not any(index.compares(Catalogue(ROOT), one) for one in smoke)
    assert index.title(1) == "One published comparison, rerun: what still holds?"
    assert index.title(0) == "Published comparisons, rerun: what still holds?"
    assert index.title(12).startswith("12 published comparisons")


def test_a_page_that_was_copied_from_another_one_is_refused(tmp_path: Path):
    page = '---\ntitle: "{}"\n---\n\n## Finding\n\n{}\n\n```{{python}}\n1\n```\n'
    prose = "The publication measured 16 of 32 cores of a Xeon Gold 5218."
    first, second, third = (tmp_path / f"{name}.qmd" for name in "abc")
    first.write_text(page.format("One", prose))
    third.write_text(page.format("Three", "Text of this page alone, longer than a heading."))
    second.write_text(page.format("One", "Other text."))
    with pytest.raises(
        RequestError, match=r'b\.qmd has the title "One", and so has a\.qmd: one of them was copied'
    ):
        copied.require_own_text(tmp_path.glob("*.qmd"))
    second.write_text(page.format("Two", prose.replace("of 32 cores", "of 32\ncores")))
    with pytest.raises(
        RequestError, match=r'has the paragraph "The publication measured 16 of 32'
    ) as refused:
        copied.require_own_text([first, second, third], second)
    assert "[publication]" in refused.value.hint
    copied.require_own_text([first, second, third], third)


def test_no_page_of_the_checkout_states_the_setting_of_a_publication():
    """A copy of such a page would publish another publication's facts."""
    for path in (ROOT / "reports").glob("*.qmd"):
        text = path.read_text(encoding="utf-8")
        assert "did not control" not in text
        assert '"Machine":' not in text
    declared = Catalogue(ROOT).publication("cnos-vs-influx")
    assert declared is not None
    assert declared.setting is not None
    assert "Xeon Gold 5218" in str(declared.setting.machine)


def test_an_experiment_with_the_name_of_a_data_page_is_refused():
    one = next(one for one in making.shown() if one.experiment == "quickstart")
    other = replace(one, experiment="quickstart-data")
    with pytest.raises(RequestError, match='Two pages have the name "quickstart-data"'):
        index.pages(ROOT, [one, other])


def test_the_sum_holds_every_published_claim_once():
    said = str(index.summary())
    total = int(re.findall(r"(\d+) published claims", said)[0])
    assert sum(int(number) for number in re.findall(r"\*\*(\d+)\*\*", said)) == total
    assert re.search(
        r"\*\*\d+\*\* hold \(.*\d+ smaller, .*\), \*\*\d+\*\* do not hold \(.*reversed.*\), ", said
    )
    found = index.comparisons()
    every = [one for held in found for one in claims.of_run(held.run)]
    declared = [
        one
        for held in found
        for name, one in Catalogue(ROOT).claims(held.run.experiment).items()
        if name in {judged.id for judged in held.claims}
    ]
    assert total == sum(not one.get("counted_with") for one in declared) < sum(not one.own for one in every)
    assert f"{sum(one.own for one in every)} questions of our own are counted apart" in said
    sources = {held.publication.title for held in found}
    assert said.startswith(
        f"{len(found)} comparisons from {len(sources)} sources, {total} published claims: "
    )
    assert len(sources) < len(found), "two experiments rerun one publication"


def test_a_claim_that_several_experiments_repeat_is_counted_once():
    names = ("cnos-vs-influx", "cnos-vs-influx-one-client")
    both = [one for one in index.comparisons() if one.run.experiment in names]
    assert len(both) == len(names)
    ids = [judged.id for judged in index.once(both)]
    assert sorted(ids) == sorted(set(ids))
    assert index.once(both) == list(both[0].claims), "the second experiment repeats claims of the first"


def test_the_picture_has_a_row_for_each_comparison_with_its_numbers():
    made = index.picture()
    assert isinstance(made, Block)
    found = index.comparisons()
    rows = made.markup.split('<li class="bb-row"')[1:]
    assert len(rows) == len(found)
    for one, row in zip(found, rows, strict=True):
        assert one.lead is not None
        assert f'<a href="{one.run.experiment}.html">' in row
        assert escape_html(one.lead.statement.rstrip(".")) in row
        seen = claim.shown(one.lead)
        assert seen.text in row
        if len(one.lead.cells) == 1:
            assert seen.text == claim.ratio_text(one.lead.measured, one.lead.low, one.lead.high)
        else:
            assert len(seen.values) == sum(bool(cell.measured) for cell in one.lead.cells)
    assert made.markup.count('class="bb-axis"') == 2, "above and below the rows"


def test_cards_are_by_year_and_hold_statements_and_no_ids():
    found = index.comparisons()
    years = [one.publication.year or 9999 for one in found]
    assert years == sorted(years)
    made = index.cards()
    assert isinstance(made, index.Cards)
    for one in found:
        assert one.publication.claimed.split("'")[0][:40] in made.markup
        for held in claims.of_run(one.run):
            if "-" in held.id:
                assert f">{held.id}<" not in made.markup
                assert f" {held.id} " not in made.markup
        strip = index.strip(one.claims)
        assert strip.count('class="bb-square"') == len(one.claims)
    for address in (one.publication.url for one in found if one.publication.url):
        assert address in made.markup


def test_load_tools_says_what_its_own_page_says():
    run = next(run for run in published.opened(ROOT) if run.experiment == "load-tools")
    said = outcome.tool_finding(run)
    assert said.startswith("benchload ")
    assert "better" in said
    assert "worse" not in said


def test_what_changed_the_result_links_the_defects_page():
    said = str(index.changes())
    anchors = {defects.anchor(place) for place in range(len(publications()))}
    linked = re.findall(r"\(defects\.html#([\w-]+)\)", said)
    assert len(linked) == 3
    assert set(linked) <= anchors
    assert len(anchors) == len(publications())
    for line in said.splitlines():
        assert "published method" in line
        assert "with the defect corrected" in line


def test_claims_that_show_a_change_are_declared():
    catalogue = Catalogue(ROOT)
    for one in publications():
        ids = {claim.id for claim in catalogue.experiment(one.experiment).claims}
        for defect in one.defects:
            named = {defect.as_published, defect.corrected} - {None}
            assert bool(named) == bool(defect.changed)
            assert named <= ids
