"""What ``bench gate`` compares, and which requests it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchbook.analyse.spending import Look, levels
from benchbook.cli import app, gate, gate_of_commands, vs
from benchbook.cli.carry_out import skipped
from benchbook.cli.gate import Side, side
from benchbook.cli.look import Clock
from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError, Unavailable
from benchbook.plan.gating import Gate
from benchbook.plan.plan import Plan
from benchbook.run import interleaved


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
    assert (design.factor, design.base, design.head) == ("system", ("duckdb-0.9.2",), ("duckdb",))
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


def test_a_side_that_is_not_here_is_refused_with_the_option_of_a_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchbook.provision import find, host
    from benchbook.provision.request import Missing

    monkeypatch.setattr(find, "SOURCES", (host,))
    monkeypatch.setattr(host, "preview", lambda *_: Missing("it is not on PATH"))
    with pytest.raises(Unavailable, match="DuckDB is unavailable here: it is not on PATH") as refused:
        planned(tmp_path, "duckdb", "duckdb-0.9.2")
    assert refused.value.hint == "Give a program with --base duckdb=PATH."
    monkeypatch.undo()
    with pytest.raises(RequestError, match="--base redis-7=/no/such"):
        planned(tmp_path, "redis-7=/no/such", "redis-7=/bin/true")


def test_a_share_that_shrinks_at_a_resume_spends_no_error_twice() -> None:
    shrunk = levels([Look(20, 0.8), Look(22, 0.45), Look(40, 1.0)], 0.05)
    straight = levels([Look(20, 0.8), Look(40, 1.0)], 0.05)
    assert shrunk[1] < 1e-6
    assert shrunk[2] == pytest.approx(straight[1], rel=0.01)


def test_the_estimate_of_two_builds_asks_for_no_program_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program may be nowhere but where base and head name it: the plan was then estimated to take no time."""
    one, two = (f"influxdb-1.8.10=http://127.0.0.1:{port}" for port in (8086, 8087))
    made = planned(tmp_path, one, two, slug="cnos-vs-influx", profile="smoke")
    asked: list[str] = []
    monkeypatch.setattr(
        "benchbook.provision.find.previews",
        lambda systems, _: asked.extend(one.name for one in systems) or {},
    )
    assert skipped(made) == []
    assert asked == []


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
    with pytest.raises(RequestError, match=r"--margin .*expected per cent"):
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


def bench(*words: str) -> int:
    return app.run(["gate", *words])


def test_two_commands_are_base_and_head(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench("--budget", "20s", "--json", "--", "true", "sleep 0.03") == 5
    held = json.loads(capsys.readouterr().out)
    assert (held["answer"], held["base"], held["head"]) == ("slower", "`true`", "`sleep 0.03`")
    assert held["metrics"][0]["loss"] > 1
    assert held["blocks"] == held["metrics"][0]["trials"] >= 3
    assert bench("--budget", "20s", "--", "sleep 0.03", "true") == 0
    said = capsys.readouterr()
    assert "`true` is not slower than `sleep 0.03`" in said.out
    assert "20.0 s have room for about 40 blocks of commands that take less than 0.2 s" in said.err
    assert "slower at a loss of 6 %" in said.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["true"], 2, "needs an experiment with --base and --head, or two commands"),
        (["true", "true", "true"], 2, "needs an experiment"),
        (["--base", "duckdb", "true", "true"], 2, "base and head themselves"),
        (["true", "truue"], 2, "there is no program `truue`"),
        (["true", "false"], 4, "exit code 1"),
        (["echo a", "echo b"], 4, "different output"),
    ],
)
def test_commands_that_cannot_be_compared_are_refused(
    words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench("--budget", "5s", *words) == code
    assert message in capsys.readouterr().err


def test_commands_are_judged_at_growing_numbers_of_blocks_and_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With equal times nothing decides but the margin; the last look has the whole error."""
    seen: list[tuple[int, float]] = []

    def measured(asked: interleaved.Asked, note: object) -> interleaved.Measured:
        found = interleaved.Measured([{}, {}], [0, 0], [{"a"}, {"a"}])
        for block in range(20):
            for place, values in enumerate(found.seconds):
                values[block] = 1.0 + 0.2 * ((block + place) % 2)
            assert asked.decided is not None
            seen.append((block + 1, (block + 1) / 20))
            if asked.decided(found, (block + 1) / 20):
                break
        return found

    monkeypatch.setattr(interleaved, "measure", measured)
    result = gate_of_commands.decide(vs.request(["true", "true"], budget="10s"), 0.03)
    assert (result.word, result.blocks, seen[-1]) == ("open", 20, (20, 1.0))
    assert result.rows[0].answer.blocks == 20


def test_the_budget_counts_what_passes_between_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([100.0, 104.0, 109.0])
    monkeypatch.setattr("benchbook.cli.look.time.monotonic", lambda: next(clock))
    one = Clock(earlier_seconds=2.0)
    assert [one.seconds() for _ in range(3)] == [2.0, 6.0, 11.0]


def test_revisions_are_four_builds_of_one_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def built(commit: str, number: int, build: str, program: str, request: object) -> Path:
        return tmp_path / f"{commit}-{number}" / program

    monkeypatch.setattr("benchbook.provision.revision.commit", lambda flag, name: f"commit-of-{name}")
    monkeypatch.setattr("benchbook.provision.revision.built", built)
    sides = ("influxdb-1.8.10=v1", "influxdb-1.8.10=v2")
    made = planned(tmp_path, *sides, slug="cnos-vs-influx", build=("make", "influxd"))
    design = Gate.parse(made.gate or {})
    assert (design.base, design.head) == (("base-1", "base-2"), ("head-1", "head-2"))
    assert made.given["influxdb-1.8.10 from head-2"] == f"{tmp_path}/commit-of-v2-2/influxd"
    assert {trial.levels["build"] for trial in made.trials} == {*design.base, *design.head}
    with pytest.raises(RequestError, match="two revisions of one system"):
        planned(tmp_path, "influxdb-1.8.10=v1", "sqlite", build=("make", "influxd"))
    with pytest.raises(RequestError, match="--build and --program belong together"):
        gate._built("make", None)


def test_commands_may_differ_in_what_they_print(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["gate", "--budget", "1ms", "--margin", "100%"]
    differ = ["--", "echo a", "echo b"]
    assert app.run([*words, *differ]) == 4
    said = capsys.readouterr().err
    assert "gave different output" in said
    assert "--output" not in said
    for allowed in (["--check", "wc -l"], ["--compared", "lines"], ["--compared", "nothing"]):
        assert app.run([*words, *allowed, *differ]) in (0, 5, 6), capsys.readouterr().err
    log = tmp_path / "log"
    around = ["--prepare", f"echo x >> {log}", "--shell", "bash"]
    assert app.run([*words, *around, "--", "sleep 0.02 | cat", "sleep 0.02 | cat"]) in (0, 5, 6)
    assert log.read_text().startswith("x")
    assert app.run(["gate", "quickstart", "--base", "duckdb", "--head", "duckdb", "--check", "cat"]) == 2
    assert "--check is for a gate on two commands, and quickstart is an experiment" in capsys.readouterr().err
