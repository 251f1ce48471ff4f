"""Charts in few bytes: the script gets the data back, and drawings look the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from benchbook.report import compact
from benchbook.report.charts import latency, ratio, strip
from benchbook.report.figure import Figure, Figures

CHARTS = [strip.throughput, latency.query_types_chart, ratio.chart]


def rows_of(held: Any) -> Any:
    """Return rows as ``charts.js`` does."""
    if isinstance(held, list):
        return held
    return [
        {
            key: column["of"][column["at"][row]] if isinstance(column, dict) else column[row]
            for key, column in held["columns"].items()
        }
        for row in range(held["rows"])
    ]


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.text(max_size=3), st.floats(-1e9, 1e9),
    st.lists(st.integers(), max_size=2),
)  # fmt: skip
ROWS = st.lists(st.dictionaries(st.sampled_from(["a", "b", "of"]), VALUES, max_size=3), max_size=6)


@given(ROWS)
def test_columns_are_the_rows(rows: list[dict[str, Any]]) -> None:
    found = rows_of(json.loads(json.dumps(compact.columns(rows))))
    assert len(found) == len(rows)
    for one, other in zip(found, rows, strict=True):
        assert one.keys() == other.keys()
        for key, value in other.items():
            assert one[key] == (pytest.approx(value, rel=1e-6) if isinstance(value, float) else value)


def test_data_of_every_part_is_packed_and_the_rest_is_as_it_was() -> None:
    rows = [{"x": 1, "name": "a"}, {"x": 2, "name": "a"}]
    spec = {
        "datasets": {"data-1": rows},
        "layer": [{"data": {"values": rows}, "mark": "point"}, {"data": {"name": "data-1"}}],
        "spec": {"hconcat": [{"data": {"values": rows}}]}, "config": {"font": "<b>"},
    }  # fmt: skip
    text = compact.specification(spec)
    assert "<" not in text
    found = json.loads(text)
    held = [found["datasets"]["data-1"], found["layer"][0]["data"]["values"]]
    held.append(found["spec"]["hconcat"][0]["data"]["values"])
    assert all(isinstance(one, dict) and rows_of(one) == rows for one in held)
    assert (found["layer"][0]["mark"], found["config"]) == ("point", {"font": "<b>"})
    assert spec["datasets"] == {"data-1": rows}, "the specification itself is left alone"


@pytest.mark.parametrize("chart", CHARTS)
def test_a_drawing_looks_the_same_in_fewer_bytes(plain: Any, chart: Any) -> None:
    drawn = chart(plain)
    for figure in drawn.figures if isinstance(drawn, Figures) else [drawn]:
        assert isinstance(figure, Figure)
        lean = compact.drawing(figure.svg, figure.name)
        before, after = (
            vl_convert.svg_to_png(svg.replace("currentColor", "#222222"))
            for svg in (compact.rounded(figure.svg), lean)
        )
        assert before == after
        assert len(lean) < 0.7 * len(figure.svg)


def test_shapes_that_repeat_are_written_once() -> None:
    path = '<path transform="translate({x},2)" d="M0,0h1v1Z" stroke="{colour}" opacity="1"/>'
    marks = "".join(path.format(x=x, colour="red") for x in range(3)) + path.format(x=9, colour="blue")
    lean = compact.drawing(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="marks"><g>{marks}</g></svg>', "figure-1"
    )
    assert lean.count('d="M0,0h1v1Z"') == 2, "once for the red ones, once for the blue one"
    assert [f'<use href="#1-0" x="{x}" y="2"/>' in lean for x in range(3)] == [True] * 3
    assert 'class="marks"' in lean
    assert "opacity" not in lean


def test_what_a_group_hands_on_changes_nothing_else() -> None:
    svg = (
        '<svg><g stroke="blue"><g><line x2="1" stroke="red"/><line x2="2" stroke="red"/></g>'
        '<g><line x2="3" stroke="red"/><line x2="4"/></g></g></svg>'
    )
    lean = compact.drawing(svg, "f")
    assert '<g stroke="red"><line x2="1"/><line x2="2"/></g>' in lean
    assert '<g><line x2="3" stroke="red"/><line x2="4"/></g>' in lean
