"""What ``bench gate`` compares, and which requests it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchbook.cli import gate
from benchbook.cli.gate import Side, side
from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError
from benchbook.plan.gating import Gate
from benchbook.plan.plan import Plan


def planned(tmp_path: Path, base: str, head: str, **changes: object) -> Plan:
    asked = {
        "slug": "quickstart", "texts": (base, head), "profile": "smoke", "sets": None, "order_seed": 1,
        "margin": 0.03, "budget": "60s", "metrics": [], "results": tmp_path,
    }  # fmt: skip
    return gate.planned(Catalogue(), **{**asked, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("duckdb-0.9.2", Side("duckdb-0.9.2")),
        ("duckdb=0.9.2", Side("duckdb-0.9.2")),
        ("influxdb-1.8.10=/opt/influxd", Side("influxdb-1.8.10", "/opt/influxd")),
        ("postgresql-15=docker://postgres:15", Side("postgresql-15", "docker://postgres:15")),
        ("redis-7=redis://127.0.0.1:6379", Side("redis-7", "redis://127.0.0.1:6379")),
    ],
)
def test_a_side_is_a_system_a_version_or_a_program(text: str, found: Side) -> None:
    assert side(text, "--base", Catalogue()) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("duckbd", 'There is no system "duckbd"(.|\n)*Did you mean "duckdb"'),
        ("duckdb=0.9.3", "has version 0.9.3; declared are (.|\n)*did you mean"),
        ("duckbd=0.9.2", 'There is no system "duckbd"'),
    ],
)
def test_a_wrong_side_is_answered_with_the_nearest(text: str, words: str) -> None:
    with pytest.raises(RequestError) as refused:
        side(text, "--base", Catalogue())
    assert re.search(words, f"{refused.value.message}\n{refused.value.hint}")


def test_two_systems_are_two_cells_of_each_block(tmp_path: Path) -> None:
    made = planned(tmp_path, "duckdb-0.9.2", "duckdb")
    design = Gate.parse(made.gate or {})
    assert (design.factor, design.base, design.head) == ("system", "duckdb-0.9.2", "duckdb")
    assert [trial.program for trial in made.trials[:2]] in (
        ["duckdb-0.9.2", "duckdb"],
        ["duckdb", "duckdb-0.9.2"],
    )
    assert made.trials_per_cell >= 30
    assert Gate.parse(Plan.parse(json.loads(made.text())).gate or {}) == design


def test_two_programs_of_one_system_are_two_builds(tmp_path: Path) -> None:
    one, two = (f"influxdb-1.8.10=http://127.0.0.1:{port}" for port in (8086, 8087))
    made = planned(tmp_path, one, two, slug="cnos-vs-influx", profile="smoke")
    assert (made.gate or {})["factor"] == "build"
    assert made.given == {
        "influxdb-1.8.10 from base": "http://127.0.0.1:8086",
        "influxdb-1.8.10 from head": "http://127.0.0.1:8087",
    }
    assert {trial.program for trial in made.trials} == set(made.given)
    assert {trial.levels["build"] for trial in made.trials} == {"base", "head"}


def test_a_system_against_itself_is_an_a_a_run(tmp_path: Path) -> None:
    made = planned(tmp_path, "sqlite", "sqlite")
    assert made.against_itself
    assert (made.gate or {})["factor"] == "aa"


def test_the_plan_has_blocks_for_several_times_the_expected_time(tmp_path: Path) -> None:
    short, long = (planned(tmp_path, "sqlite", "duckdb", budget=text) for text in ("1m", "1h"))
    assert short.trials_per_cell < long.trials_per_cell
    assert len(long.trials) <= 10_000


@pytest.mark.parametrize("text", ["3", "0%", "200%", "x%", ""])
def test_what_is_no_margin_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match=r"--margin .*expected a share"):
        gate._margin(text)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sets": ["system=sqlite"]}, "compares --base with --head"),
        ({"metrics": ["latency_p5"]}, 'no metric "latency_p5"'),
        ({"budget": "soon"}, "--budget soon"),
    ],
)
def test_wrong_options_are_refused_before_anything_starts(
    tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    with pytest.raises(RequestError, match=words):
        planned(tmp_path, "sqlite", "duckdb", **changes)


@pytest.mark.parametrize(
    ("text", "words"),
    [("gate.md", "expected FORM=FILE"), ("xml=a", 'no form "xml"'), ("junit=no/a.xml", "no folder no")],
)
def test_a_file_has_a_known_form_and_a_folder(text: str, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        gate._file(text)
