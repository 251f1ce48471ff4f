"""The command of a system: declared in a line, repeated, checked, and compared with others by name."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.declare.dataset import Dataset
from benchbook.declare.system import System
from benchbook.declare.toml import check
from benchbook.errors import RequestError, TrialFailed
from benchbook.process.launch import Program
from benchbook.provision import host
from benchbook.provision.request import Request
from benchbook.run.findings import EventFile, Findings, Timeline
from benchbook.workers import command_loop
from benchbook.workloads import program
from benchbook.workloads.program import ProgramOptions


def system(command: str, **more: Any) -> System:
    source = {"command": command, **more}
    return check({"name": "own", "title": "Own", "source": source}, System, "systems/own.toml")


def test_a_name_a_title_and_a_command_declare_a_system() -> None:
    found = system("cat -n {file}")
    assert (found.driver, found.arms["vanilla"].description) == ("command", "`cat -n {file}`")
    assert found.accepts("8.32")
    one = host.find(found, Request())
    assert isinstance(one, Program)
    assert one.version[0].isdecimal()


def test_a_version_may_be_pinned_and_asked_for_in_another_way() -> None:
    asked = system("cat {file}", version_command="cat --help")
    assert asked.source.host is not None
    assert asked.source.host.version_command == ["{program}", "--help"]
    stated = {"name": "own", "title": "Own", "version": "0.0.1", "source": {"command": "cat {file}"}}
    pinned = System.model_validate(stated)
    assert not pinned.accepts("8.32")


@pytest.mark.parametrize("command", ["", "rg 'a"])
def test_what_is_no_command_is_refused(command: str) -> None:
    with pytest.raises(RequestError, match=r"source.*command|command"):
        system(command)


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("rg {patern}", {"values": {"pattern": "a"}}, r"placeholder \{patern\}.* did you mean \"pattern\""),
        ("cat {file}", {}, r"\{file\}; it needs a dataset with \[source\]"),
        ("cat {output}", {}, r"unknown placeholder \{output\}"),
        ("cat", {"prepare": "rm {folder"}, "prepare = 'rm {folder'"),
        ("cat", {"prepare": "rm '{folder}/a b'"}, r"prepare: the placeholder \{folder\} is inside quotes"),
        ("cat", {"check": 'x="$(wc "{output}")"'}, r"check: the placeholder \{output\} is inside quotes"),
        ("cat '{folder}'", {"shell": "bash"}, r"command: the placeholder \{folder\} is inside quotes"),
        ("cat {folder:>9}", {}, "has more than a name"),
        ("cat", {"values": {"folder": "/tmp"}}, "values has folder, but {folder} is an empty folder"),
    ],
)
def test_an_unknown_placeholder_is_refused_before_a_run(
    command: str, options: dict[str, Any], message: str
) -> None:
    catalogue: Any = SimpleNamespace(system=lambda _: system(command))
    dataset: Any = SimpleNamespace(source=None)
    levels = {"system": "own", "arm": "vanilla"}
    with pytest.raises(RequestError, match=message):
        program.refuse(catalogue, dataset, ProgramOptions(**options), levels)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("cat '{folder}/a b'", {}),
        ("cat {folder}", {"check": """x="$(wc -c {output} | (cat))" && echo 'a'\\'b "\\"" {output}"""}),
        ("cat {folder}", {"check": "case $(head {output}) in a) cat {output} ;; *) true {output} ;; esac"}),
        ("cat {folder}/'a b'", {"shell": "bash", "prepare": "awk '{{ print }}' {folder}/x"}),
    ],
)
def test_a_placeholder_outside_of_quotes_and_one_in_a_substitution_are_allowed(
    command: str, options: dict[str, Any]
) -> None:
    catalogue: Any = SimpleNamespace(system=lambda _: system(command))
    levels = {"system": "own", "arm": "vanilla"}
    program.refuse(catalogue, SimpleNamespace(source=None), ProgramOptions(**options), levels)  # type: ignore[arg-type]


@pytest.mark.parametrize("shell", ["none", "bash"])
@pytest.mark.parametrize("name", ["o'd d{x}", 'a "b" {0} $(c)', "cat"])
def test_a_program_with_an_odd_path_is_the_one_that_runs(trial: Any, shell: str, name: str) -> None:
    one = trial("cat {word} {file}")
    odd = one.folder / name
    odd.write_text('#!/bin/sh\nprintf "%s|" "$0" "$1"\n')
    odd.chmod(0o755)
    found = one.context.program("own")
    one.context.program = lambda _: replace(found, path=odd)
    options = {"shell": shell, "duration": "0.01s", "values": {"word": "cat"}, "check": "{program} x"}
    program.run(one, "p", ProgramOptions.model_validate(options))
    assert (one.data / "p.output").read_text() == f"{odd}|cat|"
    assert (one.data / "check.output").read_text() == f"{odd}|x|"


@pytest.mark.parametrize(
    ("command", "sign"), [("rg x {file} | sort", "|"), ("cat $HOME/a", "$HOME"), ("a {file} > b", ">")]
)
def test_what_only_a_shell_understands_is_refused_without_one(command: str, sign: str) -> None:
    catalogue: Any = SimpleNamespace(system=lambda _: system(command))
    asked: Any = (catalogue, SimpleNamespace(source=True), {"system": "own", "arm": "vanilla"})
    with pytest.raises(RequestError) as refused:
        program.refuse(asked[0], asked[1], ProgramOptions(), asked[2])
    assert f"source.command has `{sign}`, which only a shell understands" in refused.value.message
    assert 'shell = "bash"' in str(refused.value.hint)
    program.refuse(asked[0], asked[1], ProgramOptions(shell="bash"), asked[2])


@pytest.mark.parametrize(
    "command", [r'grep "a\"; b" {file}', r'awk "{{print \$1}}" {file}', "grep 'a|b' {file}"]
)
def test_what_is_quoted_is_no_sign_of_a_shell(command: str) -> None:
    assert program.for_a_shell(command) == []


def test_a_system_without_a_command_is_refused() -> None:
    catalogue: Any = SimpleNamespace(
        system=lambda _: SimpleNamespace(name="redis", source=SimpleNamespace(command=None))
    )
    with pytest.raises(RequestError, match="redis has no command"):
        program.refuse(catalogue, SimpleNamespace(source=None), ProgramOptions(), {"system": "redis"})  # type: ignore[arg-type]


@pytest.fixture
def trial(tmp_path: Path) -> Any:
    """Return what a phase of a command needs of a trial."""
    for name in ("logs", "data", "results"):
        (tmp_path / name).mkdir()

    def made(command: str, text: str = "b\na\n") -> Any:
        (tmp_path / "own.txt").write_text(text)
        stated = {"name": "own", "title": "O", "description": "O."}
        dataset = Dataset.model_validate(stated | {"source": {"file": "own.txt", "format": "other"}})
        declared = system(command)
        catalogue = SimpleNamespace(path=lambda kind, name: tmp_path / f"{kind}-{name}.toml")
        context = SimpleNamespace(
            system=lambda _: declared, program=lambda _: host.find(declared, Request()), catalogue=catalogue,
            results=tmp_path / "results", plan=SimpleNamespace(experiment="e"),
        )  # fmt: skip
        planned = SimpleNamespace(levels={"system": "own", "arm": "vanilla"}, program="own")
        events = EventFile(tmp_path, lambda *_: None)
        return SimpleNamespace(
            context=context, planned=planned, dataset=dataset.pinned(tmp_path / "own.toml"), data=tmp_path / "data",
            folder=tmp_path, timeline=Timeline(), findings=Findings(), events=events,
        )  # fmt: skip

    return made


def numbers(trial: Any) -> dict[str, float]:
    return {one.metric: one.value for one in trial.findings.measurements}


def answers(trial: Any) -> list[list[Any]]:
    trial.events.close()
    [line] = (trial.folder / "answers.jsonl").read_text().splitlines()
    rows: list[list[Any]] = json.loads(line)["rows"]
    return rows


def test_a_short_command_is_repeated_until_all_runs_took_long_enough(trial: Any) -> None:
    one = trial("cat {file}")
    program.run(one, "read", ProgramOptions(duration="0.1s", compared="lines"))
    found = numbers(one)
    assert found["command_runs"] >= 3
    assert found["command_runs"] * found["command_seconds_mean"] >= 0.0999
    assert found["empty_command_seconds"] > 0
    assert found["command_seconds_min"] <= found["command_seconds"] <= found["command_seconds_max"]
    assert all(check["ok"] for check in one.findings.checks)
    assert answers(one) == [[0, "exit code", 0], [0, "lines", 2]]


def test_commands_before_and_after_are_untimed_and_fill_the_same_placeholders(trial: Any) -> None:
    one = trial("tee -a {folder}/kept")
    options = ProgramOptions(
        duration="0.01s", runs=4, warmup=2, shell="bash", setup="echo s > {folder}/asides",
        prepare="echo p >> {folder}/asides", conclude="echo c >> {folder}/asides",
        check="cat {folder}/asides", cleanup="echo cleaned > {experiment}/cleaned", compared="lines",
    )  # fmt: skip
    program.run(one, "write", options)
    runs = int(numbers(one)["command_runs"])
    assert runs >= 4
    assert answers(one)[1] == [0, "lines", 1 + 2 * (runs + 2)]
    assert [phase.phase for phase in one.timeline.phases] == ["setup", "write", "check", "cleanup"]
    assert [phase.timed for phase in one.timeline.phases] == [False, True, False, False]


def test_the_text_of_a_placeholder_is_one_word(trial: Any) -> None:
    for shell in ("none", "bash"):
        one = trial("printf %s {word}")
        one.data = one.folder / shell
        one.data.mkdir()
        options = {"shell": shell, "duration": "0.01s", "values": {"word": "a b; exit 3"}}
        program.run(one, "print", ProgramOptions.model_validate(options))
        assert (one.data / "print.output").read_text() == "a b; exit 3"


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("bash -c 'echo oh >&2; exit 3'", {}, "the warmup exited with code 3: .* oh"),
        ("sleep 9", {"timeout": "0.1s"}, r"a run took longer than 0.1 s: .*sleep 9"),
        ("cat {file}", {"prepare": "exit 4"}, "the prepare exited with code 4"),
        ("cat {file}", {"setup": "exit 5"}, "The command `setup` exited with code 5"),
    ],
)
def test_a_command_that_fails_fails_the_trial(
    trial: Any, command: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(TrialFailed, match=message):
        program.run(trial(command), "p", ProgramOptions.model_validate({"duration": "0.1s", **options}))


def test_the_memory_of_a_command_is_not_that_of_the_check_of_its_output(trial: Any) -> None:
    one = trial("cat {file}", "".join(f"{number}\n" for number in range(500_000)))
    program.run(one, "read", ProgramOptions(duration="0.01s", compared="sorted"))
    assert numbers(one).get("command_memory_bytes", 0) < 15e6
    big = trial("dd if=/dev/zero of=/dev/null bs=60M count=1 status=none")
    big.data = big.folder / "big"
    big.data.mkdir()
    program.run(big, "read", ProgramOptions(duration="0.01s", runs=1, warmup=0))
    assert numbers(big)["command_memory_bytes"] > 60e6


def test_an_output_that_differs_between_runs_is_found(trial: Any) -> None:
    one = trial("bash -c 'echo $$'")
    program.run(one, "p", ProgramOptions(duration="0.01s"))
    [checked] = one.findings.checks
    assert not checked["ok"]
    other = trial("bash -c 'exit 1'")
    other.data = other.folder / "other"
    other.data.mkdir()
    program.run(other, "p", ProgramOptions(duration="0.01s", exit_codes=[0, 1]))
    assert all(check["ok"] for check in other.findings.checks)


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, "b\na\n"),
        ({"compared": "lines", "check": "sort {output}"}, "a\nb\n"),
        ({"compared": "sorted"}, "a\nb\n"),
        ({"compared": "nothing"}, None),
    ],
)
def test_a_trial_keeps_what_is_compared(trial: Any, options: dict[str, str], kept: str | None) -> None:
    one = trial("cat {file}")
    program.run(one, "read", ProgramOptions(duration="0.01s", **options))  # type: ignore[arg-type]
    file = program.kept_output(one.folder, "read")
    assert (file.read_text() if file.exists() else None) == kept


def test_of_a_long_output_a_trial_keeps_both_ends(trial: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "KEPT_BYTES", 4)
    one = trial("cat {file}", "1234567890")
    program.run(one, "read", ProgramOptions(duration="0.01s"))
    said = "1234\n[Benchbook left out 2 bytes of this file]\n7890"
    assert program.kept_output(one.folder, "read").read_text() == said


def test_the_time_of_an_empty_command_is_subtracted_only_if_declared() -> None:
    run = {"user_seconds": 0.5, "system_seconds": 0.25, "memory_bytes": 30_000, "floor_bytes": 10_000}
    timed, empty = (
        [run | {"seconds": one} for one in (1.0, 2.0, 4.0)],
        [run | {"seconds": 0.5}],
    )
    shown = {one.metric: one.value for one in program.measurements("p", timed, empty)}
    assert (shown["command_seconds"], shown["empty_command_seconds"]) == (2.0, 0.5)
    assert (shown["command_cpu_seconds"], shown["command_memory_bytes"]) == (0.75, 30_000)
    less = {one.metric: one.value for one in program.measurements("p", timed, empty, subtract=True)}
    assert (less["command_seconds"], less["command_seconds_max"]) == (1.5, 3.5)
    floor = program.measurements("p", [run | {"seconds": 1.0, "floor_bytes": 30_000}], empty)
    assert "command_memory_bytes" not in {one.metric for one in floor}


def test_what_is_compared_of_an_output(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("a\nb\n")
    other.write_text("b\na\n")
    same = {
        kind: command_loop.answer(one, kind) == command_loop.answer(other, kind)
        for kind in ("output", "sorted", "lines", "nothing")
    }
    assert same == {"output": False, "sorted": True, "lines": True, "nothing": True}


def test_the_loop_needs_the_standard_library_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", command_loop.__file__],
        input="{}\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "KeyError" in done.stderr
