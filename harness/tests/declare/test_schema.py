"""The committed JSON Schemas and the page of workloads match the models."""

from __future__ import annotations

import json

import pytest

from benchbook.declare import catalogue, reference
from benchbook.declare.catalogue import root
from benchbook.declare.workload import workloads


@pytest.mark.parametrize("kind", sorted(catalogue.models()))
def test_committed_schema_is_current(kind: str) -> None:
    committed = (root() / "docs" / "schema" / f"{kind}.json").read_text()
    assert committed == catalogue.schema_text(kind), "run: python -m benchbook.declare.catalogue"


def test_the_page_of_workloads_is_current() -> None:
    committed = (root() / "docs" / "workloads.md").read_text()
    assert committed == reference.page(), "run: python -m benchbook.declare.catalogue"


def test_the_page_has_each_option_with_its_limits_and_each_metric() -> None:
    page = reference.page()
    assert "| `batch_size` | whole number from 1 to 4,194,304 | `5000` | Rows per write. |" in page
    assert "| `rows_per_second` | 1/s | higher | Rows loaded per second |" in page
    for one in workloads().values():
        section = page.partition(f"## {one.name}\n")[2].partition("\n## ")[0]
        assert all(f"| `{name}` |" in section for name in one.options.model_fields)


def test_the_schema_has_the_options_of_each_workload() -> None:
    schema = json.loads(catalogue.schema_text("experiment"))
    phase = schema["$defs"]["Phase"]
    assert phase["properties"]["workload"]["enum"] == list(workloads())
    found = {one["if"]["properties"]["workload"]["const"]: one["then"] for one in phase["allOf"]}
    name = found["load"]["properties"]["options"]["$ref"].rpartition("/")[2]
    assert schema["$defs"][name]["properties"]["batch_size"]["description"] == "Rows per write."
