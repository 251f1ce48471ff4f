"""No foreign text controls the terminal, and a stream that fails stops nobody."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import cast

import pytest

from benchbook.host import terminal

ATTACKS = [
    "\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]52;c;Y3VybA==\x1b\\", "\x1b[8mhidden", "\x1b[1A\x1b[2K", "\x9b2J",
    "failed\rok    ", "fail\b\b\b\bok", "\u202ekcab", "\u2066", "a\u2028b", "\x7f", "\x00", "\udcff",
]  # fmt: skip


@pytest.mark.parametrize("text", ATTACKS)
def test_no_command_to_a_terminal_passes(text: str) -> None:
    shown = terminal.visible(text)
    assert all(character.isprintable() for character in shown)
    assert terminal.visible(shown) == shown
    shown.encode()


def test_ordinary_text_and_bold_are_left_alone() -> None:
    text = f"{terminal.BOLD}a\tb{terminal.NORMAL}\nµs … 日本 ≈ 🎉"
    assert terminal.visible(text) == text


@pytest.mark.parametrize("text", ATTACKS)
def test_json_still_says_the_same(text: str) -> None:
    rows = [{"reason": text}]
    assert json.loads(terminal.visible(json.dumps(rows, ensure_ascii=False))) == rows


def test_the_live_line_of_rich_keeps_its_cursor_movements(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    drawn = io.StringIO()
    monkeypatch.setattr("sys.stderr", drawn)
    with terminal.guarded():
        Console(stderr=True).file.write("\x1b[2K")
        print("\x1b[2K", file=__import__("sys").stderr)
    assert drawn.getvalue() == "\x1b[2K\\u001b[2K\n"


def closed_pipe() -> io.TextIOWrapper:
    reader, writer = os.pipe()
    os.close(reader)
    return open(writer, "w", encoding="utf-8")  # noqa: PTH123 - a descriptor


@pytest.mark.parametrize("full", [False, True])
def test_a_stream_that_fails_stops_nobody(full: bool) -> None:
    kept = Path("/dev/full").open("w", encoding="utf-8") if full else closed_pipe()  # noqa: SIM115
    stream = terminal.Quiet(kept)
    for _ in range(3):
        print("words" * 10_000, file=cast("io.TextIOWrapper", stream))
        stream.flush()
    assert stream.failure is not None
    assert terminal.is_closed_pipe(stream.failure) is not full
    kept.close()  # what was buffered went to nowhere, so this raises nothing


def test_a_character_that_the_encoding_lacks_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    held = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(held, encoding="ascii"))
    with terminal.guarded():
        print("1 µs")
    assert held.getvalue() == b"1 \\xb5s\n"
