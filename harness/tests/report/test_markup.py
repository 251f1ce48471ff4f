"""Text from data stays text, in HTML and in the Markdown of both renderers."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from benchbook.report.page import markdown
from benchbook.report.table import code, escape_html, escape_markdown

SPECIALS = st.text(alphabet="<>&\"'`*_[]()#+-.!|~$@^\\{}=:/ahtps w1\n\t é", max_size=40)


class _Seen(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


@given(SPECIALS)
def test_html_shows_exactly_the_text(text):
    seen = _Seen(f"<p>{escape_html(text)}</p>")
    assert seen.tags == ["p"]
    assert seen.text == text


@settings(max_examples=150, deadline=None)
@given(SPECIALS)
def test_markdown_shows_exactly_the_words(text):
    seen = _Seen(markdown()(f"x {escape_markdown(text)} x"))
    assert seen.tags == ["p"]
    assert " ".join(seen.text.split()) == " ".join(f"x {text} x".split())


@settings(max_examples=150, deadline=None)
@given(SPECIALS)
def test_markdown_at_the_start_of_a_line_shows_exactly_the_words(text):
    seen = _Seen(markdown()(f"{escape_markdown(text)} x"))
    assert seen.tags == ["p"]
    assert " ".join(seen.text.split()) == " ".join(f"{text} x".split())


@given(SPECIALS)
def test_code_holds_no_tag_of_the_text(text):
    assert _Seen(code(text)).tags == ["code"]
