"""``bench vs`` compares commands in turn within blocks, and states the ratio in a sentence."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from benchbook.cli import vs
from benchbook.cli.app import run
from benchbook.run.interleaved import Asked, Command, Measured, measure
from benchbook.workers import command_loop


def measured(*seconds: list[float]) -> Measured:
    count = len(seconds)
    return Measured(
        [dict(enumerate(held)) for held in seconds], [9] * count, [{"x"}] * count, took_seconds=10.0
    )


def said(found: Measured, *names: str) -> list[str]:
    return [
        vs.sentence(names[place], names[0], one, differs, found)
        for place, (one, differs) in enumerate(vs.compare(found), start=1)
    ]


def test_the_faster_command_is_the_subject():
    gzip = [1.8, 2.0, 1.9, 2.1, 2.2]
    pigz = [0.9, 1.02, 0.94, 1.05, 1.1]
    wanted = "pigz is 2.00 times as fast as gzip (95 % CI 1.97 to 2.03, 5 blocks in 10 s)."
    assert said(measured(gzip, pigz), "gzip", "pigz") == [wanted]
    turned = said(measured(pigz, gzip), "pigz", "gzip")
    assert turned == [wanted]


def test_equal_commands_have_no_difference():
    [text] = said(measured([1.0, 1.1, 0.9, 1.0, 1.05], [1.02, 1.0, 1.0, 0.97, 1.0]), "a", "b")
    assert text.startswith(
        "No difference was found between b and a: the ratio of their speeds is 1.01 (95 % CI 0.88 to 1.15"
    )


def test_more_comparisons_need_a_clearer_difference():
    """Alone, b differs from a with p of about 0.03; beside two others, Holm's correction triples that."""
    a, b = [1.0, 1.0, 1.0, 1.0, 1.0], [0.95, 0.97, 0.93, 0.99, 0.96]
    assert vs.compare(measured(a, b))[0][1]
    assert not vs.compare(measured(a, b, a, a))[0][1]


def writes(log: Path, letter: str) -> Command:
    return Command(letter, ["bash", "-c", f"echo {letter} >> {log}"])


def test_commands_alternate_within_blocks_in_random_order(tmp_path: Path):
    log = tmp_path / "log"
    asked = Asked([writes(log, "a"), writes(log, "b"), writes(log, "c")], 1e-6, warmup=0, order_seed=3)
    found = measure(asked)
    letters = log.read_text().split()
    blocks = [letters[place : place + 3] for place in range(0, len(letters), 3)]
    assert found.blocks == len(blocks) == 5  # the fewest
    assert all(sorted(block) == ["a", "b", "c"] for block in blocks)
    assert len(set(map(tuple, blocks))) > 1


def test_short_commands_are_repeated_within_a_block(tmp_path: Path):
    log = tmp_path / "log"
    found = measure(Asked([writes(log, "a"), writes(log, "b")], 1.5, order_seed=1))
    assert min(found.runs) > found.blocks
    assert len(log.read_text().split()) == sum(found.runs) + 2  # and a warm-up of each


def test_what_runs_around_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    log = tmp_path / "log"
    words = ["vs", "true", "true", "--budget", "1us", "--warmup", "0"]
    words += ["--prepare", f"echo a >> {log}", "--prepare", f"echo b >> {log}"]
    for option in ("setup", "conclude", "cleanup"):
        words += [f"--{option}", f"echo {option} >> {log}"]
    assert run(words) == 0, capsys.readouterr().err
    lines = log.read_text().split()
    assert (lines[0], lines[-1]) == ("setup", "cleanup")
    assert {name: lines.count(name) for name in ("a", "b", "conclude")} == {"a": 5, "b": 5, "conclude": 10}
    assert "too small for 5 blocks" in capsys.readouterr().err


def test_cleanup_runs_after_a_failure_too(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    log = tmp_path / "log"
    assert run(["vs", "true", "false", "--cleanup", f"echo cleanup >> {log}; exit 3"]) == 4
    assert log.read_text() == "cleanup\n"
    assert "`false` ended with exit code 1" in capsys.readouterr().err


def test_json_has_each_block(capsys: pytest.CaptureFixture[str]):
    assert run(["vs", "true", "sleep 0.05", "--budget", "1us", "--json"]) == 0
    first, other = json.loads(capsys.readouterr().out)
    assert (first["command"], first["times_as_fast"]) == ("true", None)
    assert len(other["blocks"]) == 5
    assert other["low"] < other["times_as_fast"] < other["high"]
    assert min(other["blocks"]) >= 0.05  # sleep cannot be shorter


SHOWN = (
    "This shows the difference in bash: diff <(echo a) <(echo b) (for binary output, cmp in place of diff). "
    "If they differ by"
)
MISTAKES = [
    (["true"], 2, "vs compares at least two commands, and this is one: `true`."),
    (["true", "nosuchprogram -x"], 2, "`nosuchprogram -x`: there is no program `nosuchprogram` on PATH."),
    (["true", "echo 'a"], 2, "`echo 'a`: no closing quotation."),
    (["true", "true | cat"], 2, "`true | cat` has `|`, which only a shell understands"),
    (["true", "cat $HOME/a"], 2, "`cat $HOME/a` has `$HOME`, which only a shell understands"),
    (["true", 'cat "$HOME"'], 2, "has `$HOME`"),
    (["true", "ls ~"], 2, "has `~`"),
    (["true", "cat /proc/self/statu?"], 2, "has `/proc/self/statu?`"),
    (["true", "true", "--shell", "bush"], 2, "--shell bush: allowed are none, bash; did you mean"),
    (["true", "true", "--compared", "lins"], 2, "--compared lins: allowed are output, sorted, lines, nothing"),
    (["true", "true", "--budget", "10"], 2, '--budget: "10" is not a duration'),
    (["true", "true", "true", "--prepare", "a", "--prepare", "b"], 2, "--prepare was given 2 times for 3 commands."),
    (["true", "cat nosuchfile"], 4, "`cat nosuchfile` ended with exit code 1; the end of its errors: cat: nosuchfile"),
    (["true", "true", "--prepare", "exit 3"], 4, "--prepare ended with exit code 3"),
    (["echo a", "echo b"], 4, "`echo a` and `echo b` gave different output, so no speeds are compared."),
    (["echo a", "echo b"], 4, SHOWN),
    (["true", "date +%N"], 4, "true and date gave different output"),
    (["true", "date +%N"], 4, "diff <(true) <(date +%N)"),
    (["date +%N", "date +%N"], 4, "diff <(date +%N) <(date +%N)"),
    (["echo a", "echo b", "--check", "cat"], 4, "`echo a` and `echo b` gave different output"),
    (["echo a", "echo b", "--check", "cat"], 4, "diff <(echo a | cat) <(echo b | cat)"),
    (["echo a", "echo b", "--compared", "sorted"], 4, "diff <(echo a | sort) <(echo b | sort)"),
    (["true", "sleep 9", "--timeout", "50ms"], 4, "`sleep 9` took longer than 0.05 s."),
    (["true", "true", "--output", "nosuchfile"], 4, "--output nosuchfile: `true` wrote no such file."),
]  # fmt: skip


@pytest.mark.parametrize(("words", "code", "message"), MISTAKES)
def test_a_mistake_is_one_sentence(
    words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
):
    assert run(["vs", *words]) == code
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["echo a", "echo b", "--compared", "lines"],
        ["echo a", "echo b", "--compared", "nothing"],
        ["echo a", "echo b", "--check", "wc -l"],
        ["bash -c 'exit 3'", "bash -c 'exit 3'", "--exit-code", "3"],
        ["bash -c 'echo b; echo a'", "bash -c 'echo a; echo b'", "--compared", "sorted"],
    ],
)
def test_what_differs_by_nature_may_be_allowed(words: list[str], capsys: pytest.CaptureFixture[str]):
    assert run(["vs", *words, "--budget", "1us"]) == 0, capsys.readouterr().err
    assert "95 % CI" in capsys.readouterr().out


def test_what_a_shell_would_leave_alone_is_no_mistake():
    for text in (
        "awk '{print $NF}' a",
        "grep 'a*' b",
        "grep no.*such/file b",
        "echo 5$ a~b \\$HOME",
        'find "*"',
    ):
        assert vs.for_a_shell(text) == []
    for text in (
        "find . -exec true {} ';'",
        r"find . -exec true {} \;",
        "grep '|' f",
        "printf %s '&'",
        "a {} b{1}",
    ):
        assert vs.for_a_shell(text) == []
    for text in (
        "a >b",
        "a 2>/dev/null",
        "a;b",
        "a $?",
        "a $1",
        "ls {a,b}",
        "cat ~root",
        "curl x?a=1&b",
        "echo $((1))",
    ):
        assert vs.for_a_shell(text), text


def test_a_command_that_prints_without_end_is_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(command_loop, "MOST_OUTPUT_BYTES", 1 << 20)
    assert run(["vs", "true", "yes", "--compared", "nothing"]) == 4
    assert "`yes` printed more than" in capsys.readouterr().err


def test_errors_without_end_stop_a_command_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(command_loop, "MOST_OUTPUT_BYTES", 1 << 20)
    asked = {"output": "/dev/null", "errors": str(tmp_path / "errors"), "timeout": 60.0}
    assert command_loop.ran(["bash", "-c", "yes >&2"], asked)["stopped"] == "output"
    assert (tmp_path / "errors").stat().st_size == 0


def test_a_full_disk_stops_a_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(command_loop, "LEAST_FREE_BYTES", 1 << 62)
    output = tmp_path / "output"
    asked = {"output": str(output), "errors": str(tmp_path / "errors"), "timeout": 60.0}
    assert command_loop.ran(["yes"], asked)["stopped"] == "output"
    assert output.stat().st_size == 0


def test_files_in_the_way_are_suspected_only_after_a_run_that_worked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    place = tmp_path / "made"
    assert run(["vs", "false", "false"]) == 4
    assert "--prepare" not in capsys.readouterr().err
    assert run(["vs", f"mkdir {place}", "true"]) == 4
    assert "remove them with --prepare" in capsys.readouterr().err


def test_the_time_of_bash_is_subtracted(capsys: pytest.CaptureFixture[str]):
    assert run(["vs", "sleep 0.02", "sleep 0.02 | cat", "--shell", "bash", "--budget", "1us", "--json"]) == 0
    first, _ = json.loads(capsys.readouterr().out)
    assert first["empty_seconds"] > 0


def test_an_interrupted_command_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    started: list[int] = []
    spawn = os.posix_spawnp
    monkeypatch.setattr(
        os, "posix_spawnp", lambda *words, **more: started.append(spawn(*words, **more)) or started[-1]
    )

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_loop.threading.Thread, "start", lambda _: signal.raise_signal(signal.SIGUSR1))
    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            command_loop.ran(
                ["sleep", "60"], {"output": str(tmp_path / "o"), "errors": str(tmp_path / "e"), "timeout": 9}
            )
    finally:
        signal.signal(signal.SIGUSR1, before)
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


def test_output_that_changes_after_the_warm_up_stops_the_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    log = tmp_path / "log"
    changing = f"bash -c 'echo x >> {log}; test $(wc -l < {log}) -lt 4 && echo same || echo other'"
    assert run(["vs", changing, "echo same", "--budget", "1us"]) == 4
    assert "gave different output" in capsys.readouterr().err
    assert len(log.read_text().split()) >= 4
