"""Printing never stops a command, never fails a run, and passes no command to a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.cli.app import run
from benchbook.errors import RequestError

HARNESS = Path(__file__).parents[2]


PUBLISHED = HARNESS.parent / "reports" / "data" / "quickstart"
QUICKSTART = f"{PUBLISHED}/quickstart-20261120T220313-c1df"
AGAINST_ITSELF = f"{PUBLISHED}/quickstart-20261122T000300-8a7a"


def bench(words: list[str], output: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "benchbook", *words],
        cwd=HARNESS,
        stdout=output,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )


@pytest.fixture
def closed() -> Any:
    """Return the writing end of a pipe that nobody reads, as after ``| head -1``."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


PRINTING = [
    ["list"],
    ["sql", QUICKSTART, "FROM trials"],
    ["plan", "quickstart", "--json"],
    ["claims", QUICKSTART],
    [
        "compare",
        QUICKSTART,
        AGAINST_ITSELF,
        "--across",
    ],
    ["--help"],
]


@pytest.mark.parametrize("words", PRINTING, ids=lambda words: words[0])
def test_a_command_that_prints_ends_quietly_when_its_reader_has_enough(words: list[str], closed: int) -> None:
    done = bench(words, closed)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("words", PRINTING, ids=lambda words: words[0])
def test_a_full_device_is_one_sentence(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = bench(words, full)
    assert done.returncode == 2
    assert done.stderr.decode() == "bench: standard output cannot be written: No space left on device.\n"


@pytest.mark.parametrize("closed_one", ["stdin", "stdout", "stderr"])
def test_a_stream_that_the_caller_closed_is_no_error(closed_one: str) -> None:
    number = ("stdin", "stdout", "stderr").index(closed_one)
    code = f"exec {sys.executable} -m benchbook list {number}>&-"
    done = subprocess.run(["/bin/sh", "-c", code], cwd=HARNESS, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert closed_one == "stdout" or b"quickstart" in done.stdout


@pytest.mark.parametrize("device", ["pipe", "full"])
@pytest.mark.parametrize(("status", "code"), [("ok", 0), ("skipped", 3), ("failed", 4), ("different", 4)])
def test_a_run_ends_and_keeps_its_exit_code(
    device: str, status: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: int
) -> None:
    from benchbook.cli import carry_out, differing, summary
    from benchbook.report import render
    from benchbook.run.engine import Outcome

    ended: list[str] = []

    def carried_out(*_: Any) -> Outcome:
        print("words" * 100_000, flush=True)
        print("words" * 100_000, file=sys.stderr, flush=True)
        return Outcome("a-run", {status: 1})

    def shown(*_: Any) -> None:
        print("a table", flush=True)

    def reported(*_: Any) -> str:
        ended.append("report")
        return "report.html"

    monkeypatch.setattr(carry_out, "carried_out", carried_out)
    monkeypatch.setattr(carry_out, "store", lambda *_: None)
    monkeypatch.setattr(summary, "show", shown)
    monkeypatch.setattr(differing, "show", lambda *_: status == "different")
    monkeypatch.setattr(render, "report", reported)
    path = f"/dev/fd/{closed}" if device == "pipe" else "/dev/full"
    output = os.dup(closed) if device == "pipe" else os.open(path, os.O_WRONLY)
    monkeypatch.setattr("sys.stdout", open(output, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    monkeypatch.setattr("sys.stderr", open(os.dup(output), "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    asked = [
        "run",
        "quickstart",
        "--profile",
        "smoke",
        "--set",
        "system=sqlite",
        "--results",
        str(tmp_path / "r"),
    ]
    assert run(asked) == code
    assert ended == ["report"]


ATTACK = "\x1b[2J\x1b]0;title\x07\x9bx\u202e"


def test_messages_and_cells_pass_no_command_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchbook.cli import list_

    def refused(*_: Any) -> list[dict[str, Any]]:
        raise RequestError(f"the server says {ATTACK}", f"look at {ATTACK}")

    monkeypatch.setattr(list_, "_declared", lambda _: [{f"name{ATTACK}": ATTACK}])
    assert run(["list"]) == 0
    assert run(["list", "--json"]) == 0
    monkeypatch.setattr(list_, "_declared", refused)
    assert run(["list"]) == 2
    shown = capsys.readouterr()
    for text in (shown.out, shown.err):
        assert "\\u001b[2J" in text
        assert all(character.isprintable() or character == "\n" for character in text)
    listed = json.loads(shown.out[shown.out.index("[\n") :])
    assert listed == [{f"name{ATTACK}": ATTACK}]


def test_a_trial_s_reason_passes_no_command_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    from benchbook.host import terminal
    from benchbook.record.folder import tell
    from benchbook.run.progress import Progress

    with terminal.guarded():
        tell(f"Left out: {ATTACK}")
        Progress(1.0, Console(stderr=True, force_terminal=True, color_system=None)).note(f"failed: {ATTACK}")
        trial: Any = SimpleNamespace(block=0, cell="a")
        Progress(1.0).trial_ended(trial, {"reason": ATTACK, "status": "failed", "duration_seconds": 1.0})
    err = capsys.readouterr().err
    assert err.count("\\u001b[2J") == 3
    assert all(character.isprintable() or character == "\n" for character in err)
