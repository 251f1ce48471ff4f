"""Charts in few bytes: data as columns, and drawings without what is repeated or invisible.

A page has each chart twice, as a specification for the script and as a drawing for print and readers without scripts.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree as ET

Specification = dict[str, Any]

DIGITS = 7
"""Significant digits of numbers in a specification: more than the pixels of a screen show."""
PARTS = ("layer", "hconcat", "vconcat", "concat")
"""Keys of a specification with further ones; ``spec`` has one."""


def specification(made: Specification) -> str:
    """Return a Vega-Lite specification as JSON for a page; ``charts.js`` makes rows of the columns again."""
    return json.dumps(_packed(made), separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _packed(part: Specification) -> Specification:
    found = dict(part)
    if "datasets" in found:
        found["datasets"] = {name: columns(rows) for name, rows in found["datasets"].items()}
    if isinstance(found.get("data"), dict) and "values" in found["data"]:
        found["data"] = {**found["data"], "values": columns(found["data"]["values"])}
    for group in PARTS:
        if group in found:
            found[group] = [_packed(one) for one in found[group]]
    if isinstance(found.get("spec"), dict):
        found["spec"] = _packed(found["spec"])
    return found


def columns(rows: Any) -> Any:
    """Return rows with equal keys as columns; names that repeat are numbers of a list. Other data stays as it is.

    >>> columns([{"x": 1.00000001, "name": "a"}, {"x": 2, "name": "a"}, {"x": 3, "name": "b"}])
    {'rows': 3, 'columns': {'x': [1.0, 2, 3], 'name': {'of': ['a', 'b'], 'at': [0, 0, 1]}}}
    >>> columns([{"x": 1}, {"y": 2}])
    [{'x': 1}, {'y': 2}]
    """
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        return rows
    keys = rows[0].keys()
    if any(row.keys() != keys for row in rows):
        return rows
    return {"rows": len(rows), "columns": {key: _column([row[key] for row in rows]) for key in keys}}


def _column(values: Sequence[Any]) -> Any:
    names = list(dict.fromkeys(value for value in values if isinstance(value, str)))
    if len(names) < len(values) and all(isinstance(value, str) for value in values):
        place = {name: number for number, name in enumerate(names)}
        return {"of": names, "at": [place[value] for value in values]}
    return [float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value for value in values]


# Drawings.

NAMESPACE = "http://www.w3.org/2000/svg"
DECLARED = re.compile(r' xmlns(?::xlink)?="[^"]*"')
PLACES = re.compile(r' (?:d|transform|x1|x2|y1|y2)="[^"]*"')
DECIMALS = re.compile(r"(\.\d)\d+")
TRANSLATED = re.compile(r"translate\((-?[\d.]+),(-?[\d.]+)\)")
HIDDEN = ("", "M0,0h0v0h0Z")
"""Paths that draw nothing."""
NO_USE = ("class", "role", "aria-hidden", "aria-roledescription", "pointer-events", "cursor")
"""Attributes that mean nothing in a drawing that is hidden from the pointer and from readers who hear the page."""
DEFAULTS = {"opacity": "1", "stroke-opacity": "1", "fill-opacity": "1", "stroke-width": "1"}
INHERITED = (
    "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap",
    "font-family", "font-size", "font-weight", "font-style", "text-anchor",
)  # fmt: skip
"""Attributes that a group hands on to what is in it."""
FEWEST_ALIKE = 3
"""Shapes that are drawn so often are written once."""


def drawing(svg: str, name: str) -> str:
    """Return a drawing of Vega as short as it looks the same to a tenth of a pixel; new ids have ``name``."""
    root = ET.fromstring(rounded(DECLARED.sub("", svg)))  # noqa: S314 - Vega wrote it
    for node in list(_below(root)):
        for key in NO_USE:
            node.attrib.pop(key, None)
        for key, value in DEFAULTS.items():
            if node.get(key) == value:
                del node.attrib[key]
    _without_hidden(root)
    _share_shapes(root, name)
    fonts = {node.get("font-family") for node in root.iter("text")}
    if len(fonts) == 1 and (font := fonts.pop()) is not None:
        root.set("font-family", font)
        for node in root.iter("text"):
            del node.attrib["font-family"]
    _hand_on(root)
    root.set("xmlns", NAMESPACE)
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")


def rounded(svg: str) -> str:
    """Return a drawing with places to a tenth of a pixel.

    >>> rounded('<path d="M20.526,145.452L50.007,170"/><text>0.123</text>')
    '<path d="M20.5,145.4L50.0,170"/><text>0.123</text>'
    """
    return PLACES.sub(lambda place: DECIMALS.sub(r"\1", place[0]), svg)


def _below(root: ET.Element) -> Iterator[ET.Element]:
    """Yield everything in a drawing but its root, whose attributes the page needs."""
    nodes = root.iter()
    next(nodes)
    return nodes


def _without_hidden(node: ET.Element) -> None:
    """Remove paths that draw nothing, and groups without anything in them."""
    for child in list(node):
        _without_hidden(child)
        hidden = child.tag == "path" and (child.get("d") in HIDDEN or child.get("display") == "none")
        if hidden or (child.tag == "g" and not len(child)):
            node.remove(child)


def _share_shapes(root: ET.Element, name: str) -> None:
    """Define paths that differ only in their place once, and place them."""
    alike: dict[tuple[tuple[str, str], ...], list[tuple[ET.Element, int]]] = defaultdict(list)
    for parent in root.iter():
        for place, child in enumerate(parent):
            if child.tag == "path" and TRANSLATED.fullmatch(child.get("transform", "")):
                look = tuple((key, value) for key, value in child.items() if key != "transform")
                alike[look].append((parent, place))
    shapes = ET.Element("defs")
    for look, places in alike.items():
        if len(places) < FEWEST_ALIKE:
            continue
        id_ = f"{name.removeprefix('figure-')}-{len(shapes)}"
        shapes.append(ET.Element("path", {"id": id_, **dict(look)}))
        for parent, place in places:
            moved = TRANSLATED.fullmatch(parent[place].get("transform", ""))
            assert moved is not None
            parent[place] = ET.Element("use", {"href": f"#{id_}", "x": moved[1], "y": moved[2]})
    if len(shapes):
        root.insert(0, shapes)


def _hand_on(node: ET.Element) -> None:
    """Write attributes that everything in a group has on the group alone."""
    for child in node:
        _hand_on(child)
    if node.tag != "g":
        return
    for key in INHERITED:
        values = {child.get(key) for child in node}
        if len(values) == 1 and None not in values and node.get(key) in (None, *values):
            node.set(key, values.pop() or "")
            for child in node:
                del child.attrib[key]
