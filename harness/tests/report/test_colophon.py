"""The foot of a page: facts that are known, and none that are not."""

from __future__ import annotations

import pytest

from benchbook.declare.publication import Publication
from benchbook.report import colophon
from benchbook.report.colophon import Colophon
from tests.report.parsed import Page

PUBLICATION = Publication(
    title="Notes & numbers",
    author="Somebody",
    year=2021,
    url="https://example.test/notes",
    claimed="A is fast.",
)
WHOLE = Colophon(
    "A_1 and 50 % of B", "benchbook-a", "2026-11-22", "a-1", "0123456789abcdef", PUBLICATION, "a-data.html"
)


@pytest.fixture
def cited(tmp_path, monkeypatch):
    """A checkout whose CITATION.cff the test writes."""
    monkeypatch.setenv("BENCHBOOK_ROOT", str(tmp_path))

    def write(text: str):
        (tmp_path / colophon.FILE).write_text(text, encoding="utf-8")
        colophon.project.cache_clear()

    colophon.project.cache_clear()
    yield write
    colophon.project.cache_clear()


def test_the_citation_is_bibtex(cited):
    assert WHOLE.bibtex().splitlines() == [
        "@misc{benchbook-a,",
        "  author = {{The Benchbook authors}},",
        r"  title = {A\_1 and 50 \% of B},",
        "  year = {2026},",
        "  date = {2026-11-22},",
        "  note = {Benchbook, run a-1; revision 0123456789abcdef},",
        "}",
        "",
        "@misc{benchbook-a-publication,",
        "  author = {{Somebody}},",
        r"  title = {Notes \& numbers},",
        "  year = {2021},",
        "  url = {https://example.test/notes},",
        "}",
    ]


def test_links_are_to_what_is_declared(cited):
    page = Page(WHOLE.html())
    assert page.unbalanced == []
    links = [found["href"] for tag, found in page.tags if tag == "a"]
    assert links == ["https://example.test/notes", "a-data.html"]
    assert "Notes & numbers" in page.text
    cited("authors:\n  - name: Ann\nlicense: MIT\nrepository-code: https://example.test/code\n")
    page = Page(WHOLE.html())
    assert "https://example.test/code" in [found["href"] for tag, found in page.tags if tag == "a"]
    assert "By Ann" in page.text
    assert "licence MIT" in page.text
    assert "url = {https://example.test/code}" in WHOLE.bibtex()


@pytest.mark.parametrize("text", ["", "authors: [", "- a list"])
def test_an_unreadable_citation_file_leaves_the_defaults(cited, text):
    cited(text)
    assert "By The Benchbook authors" in Page(WHOLE.html()).text


def test_a_page_without_a_run_says_less(cited):
    page = Page(Colophon("Methods", "benchbook-methods").html())
    assert "run" not in page.text.partition("Cite")[0].lower()
    assert Colophon("Methods", "benchbook-methods").byline() == ""


def test_a_publication_without_an_address_is_named():
    unlinked = PUBLICATION.model_copy(update={"url": None})
    assert colophon.linked(unlinked) == "“Notes &amp; numbers” (not published online)"


def test_a_project_of_somebody_else_is_not_ours(cited, tmp_path, monkeypatch):
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setenv("BENCHBOOK_PROJECT", str(own))
    page, entry = WHOLE.html(), WHOLE.bibtex()
    assert "The Benchbook authors" not in page + entry
    assert "licence" not in page
    assert "revision of Benchbook <code>0123456789ab</code>" in page
    (own / colophon.FILE).write_text("authors: [{name: Somebody else}]\nlicense: MIT\n", encoding="utf-8")
    colophon.project.cache_clear()
    assert "By Somebody else" in WHOLE.html()
    assert "licence MIT" in WHOLE.html()
