"""Parse a rendered page with the standard HTML parser."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "link", "br", "hr", "img", "input", "col"}


class Page(HTMLParser):
    """Text, attributes and scripts of a page."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.markup = markup
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.scripts: list[tuple[dict[str, str], str]] = []
        self.text_parts: list[str] = []
        self.open: list[str] = []
        self.unbalanced: list[str] = []
        self.feed(markup)
        self.close()

    @classmethod
    def read(cls, path: Path) -> Page:
        return cls(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.append((tag, found))
        if tag == "script":
            self.scripts.append((found, ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            attributes, before = self.scripts[-1]
            self.scripts[-1] = (attributes, before + data)
        elif "style" not in self.open[-1:]:
            self.text_parts.append(data)

    @property
    def text(self) -> str:
        """All words of the page, white space made plain."""
        return " ".join(" ".join(self.text_parts).split())

    def having(self, name: str, value: str) -> list[tuple[str, dict[str, str]]]:
        """Return the elements whose attribute holds a word."""
        return [(tag, found) for tag, found in self.tags if value in found.get(name, "").split()]

    def resources(self) -> list[str]:
        """Return everything that a browser would fetch for this page."""
        fetched = []
        for tag, found in self.tags:
            for name in ("src", "href", "xlink:href", "data", "poster", "srcset", "action"):
                if name in found and not (tag == "a" and name == "href"):
                    fetched.append(found[name])
        return [one for one in fetched if not one.startswith(("data:", "#"))]
