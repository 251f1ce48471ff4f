"""The answer of a gate in words, and in the forms of other tools, checked as their readers read them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from benchbook.analyse.gate import Answer, Look
from benchbook.analyse.gated import Row
from benchbook.plan.gating import Gate
from benchbook.report import gate
from benchbook.report.gate import Result

LOAD = Row(
    "load", "rows_per_second", "1/s", "higher", "", 2000.0, 1600.0, Answer("slower", 6, 6, 0.25, 0.2, 0.3)
)
QUERY = Row(
    "ask", "latency_p50", "s", "lower", "workers 4", 0.01, 0.01, Answer("not slower", 5, 5, 0.0, -0.02, 0.02)
)
OPEN = Row(
    "scan", "latency_p50", "s", "lower", "", 0.02, 0.021, Answer("open", 6, 6, 0.05, -1.0, math.inf, None, 40)
)
GATE = Gate("system", ("duckdb-0.9.2",), ("duckdb",), 0.03, 600.0, (), ("duckdb-0.9.2", "duckdb"))
RESULT = Result("quick-1", "quick", GATE, [LOAD, QUERY, OPEN], 6, 60.0, "2026-11-28 08:00:00.123")


def test_one_slower_metric_is_named_with_its_interval() -> None:
    assert RESULT.word == "slower"
    assert gate.sentence(RESULT) == (
        "duckdb is slower than duckdb-0.9.2 in load: Rows loaded per second:"
        " +25 % (+20 % to +30 %), after 6 blocks in 1 min."
    )


def test_an_open_gate_says_how_long_it_would_take() -> None:
    result = replace(RESULT, rows=[QUERY, OPEN])
    assert gate.sentence(result).endswith("To decide each with 80 % chance: 40 blocks, --budget 7m.")
    never = replace(OPEN, answer=replace(OPEN.answer, needed=None))
    assert "would not decide all of them" in gate.sentence(replace(RESULT, rows=[never]))
    assert gate.sentence(replace(RESULT, rows=[])).startswith("Open: no metric has a value")


def test_a_gate_that_passes_names_its_margin() -> None:
    assert gate.sentence(replace(RESULT, rows=[QUERY])).startswith(
        "duckdb is not slower than duckdb-0.9.2 by more than 3 %"
    )


def test_the_table_shows_each_metric_in_its_unit() -> None:
    first, second, third = gate.table(RESULT)
    assert first["duckdb-0.9.2"] == "2,000 rows/s"
    assert second["metric"] == "ask: Median latency, workers 4"
    assert third["loss (interval)"] == "+5.0 % (… to …)"
    same = gate.table(replace(RESULT, gate=replace(GATE, names=("a", "a"))))
    assert {"a (base)", "a (head)"} <= same[0].keys()


def test_json_holds_numbers_that_every_reader_takes() -> None:
    held = json.loads(gate.FORMS["json"](RESULT), parse_constant=pytest.fail)
    assert (held["answer"], held["margin"], held["blocks"]) == ("slower", 0.03, 6)
    assert held["metrics"][0]["low"] == 0.2
    assert held["metrics"][2]["high"] is None
    assert held["metrics"][2]["blocks_needed"] == 40


def test_markdown_is_one_table_with_a_row_for_each_metric() -> None:
    lines = gate.markdown(replace(RESULT, gate=replace(GATE, names=("a|b", "c")))).splitlines()
    assert lines[0] == "**quick: slower**"
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 5
    assert {line.replace("\\|", "").count("|") for line in table} == {8}


def test_junit_counts_its_cases_as_the_common_schema_has_them() -> None:
    faulty = replace(RESULT, faults=("They gave different answers.",))
    for result, errors in ((RESULT, 0), (faulty, 1)):
        suites = ET.fromstring(gate.junit(result))
        assert (suites.tag, [one.tag for one in suites]) == ("testsuites", ["testsuite"])
        suite = suites[0]
        assert suite.attrib["timestamp"] == "2026-11-28T08:00:00"
        cases = suite.findall("testcase")
        assert len(cases) == len(list(suite))
        for element in (suites, suite):
            counted = {
                "tests": len(cases), "failures": len(suite.findall("testcase/failure")),
                "skipped": len(suite.findall("testcase/skipped")), "errors": len(suite.findall("testcase/error")),
            }  # fmt: skip
            if element is suites:  # the schema of Jenkins has none here
                del counted["skipped"]
                assert "skipped" not in element.attrib
            assert {name: int(element.attrib[name]) for name in counted} == counted
            float(element.attrib["time"])
        assert counted == {"tests": 3 + errors, "failures": 1, "skipped": 1, "errors": errors}
        for case in cases:
            assert case.attrib.keys() == {"classname", "name", "time"}
            assert {child.tag for child in case} <= {"failure", "skipped", "error"}
            assert all("message" in child.attrib for child in case)


def test_bencher_metric_format_is_names_measures_and_values() -> None:
    held = json.loads(gate.bmf(RESULT))
    assert held["quick/load"]["rows-per-second"] == {"value": 1600.0}
    assert held["quick/load"]["rows-per-second-loss"] == {
        "value": 0.25,
        "lower_value": 0.2,
        "upper_value": 0.3,
    }
    assert "upper_value" not in held["quick/scan"]["latency-p50-loss"]
    for name, measures in held.items():
        assert 0 < len(name) <= 1024
        for measure, metric in measures.items():
            assert measure == measure.lower().replace("_", "-").replace(" ", "-")
            assert "value" in metric
            assert metric.keys() <= {"value", "lower_value", "upper_value"}
            assert all(isinstance(one, float) for one in metric.values())


def test_github_action_benchmark_gets_values_of_which_smaller_is_better() -> None:
    held = json.loads(gate.github_action_benchmark(RESULT))
    assert [one["value"] for one in held] == [1 / 1600, 0.01, 0.021]
    assert held[0]["unit"] == "s/row"
    assert len({one["name"] for one in held}) == 3
    for one in held:
        assert one.keys() == {"name", "unit", "value", "extra"}
        assert isinstance(one["value"], float)


def test_a_look_is_one_line() -> None:
    line = gate.look([LOAD, QUERY], Look(6, 0.5), "slower")
    assert line == "after block 6 (50 % of the budget): 1 not slower, 1 slower; the gate ends: slower"


def test_too_few_blocks_for_any_answer_name_the_smallest_budget() -> None:
    few = replace(OPEN, answer=Answer("open", 2, 2))
    said = gate.sentence(replace(RESULT, rows=[few], blocks=2, seconds=20.0))
    assert said.endswith("An answer needs 3 blocks at least: --budget 30s or more.")
