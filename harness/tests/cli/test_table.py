"""Tables of the command line, on terminals and in pipes."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
import sys

SHOW = "from benchbook.cli.table import show; show({rows!r}, False)"
ROWS = [
    {"id": "first", "measured": 1.39, "low": None, "reason": "a reason of many words " * 12},
    {"id": "second", "measured": 2.0, "low": 1.5, "reason": "short"},
]


def on_terminal(rows: list[dict[str, object]], columns: int) -> list[str]:
    """Return the lines that a terminal of so many columns gets, without their styles."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
    written = b""
    with (
        os.fdopen(leader, "rb", buffering=0) as screen,
        subprocess.Popen(
            [sys.executable, "-c", SHOW.format(rows=rows)], stdout=follower, env=environment
        ) as shown,
        contextlib.suppress(OSError),  # everything is read and the writer has ended
    ):
        os.close(follower)
        while part := screen.read(65536):
            written += part
    assert shown.returncode == 0
    return re.sub(r"\x1b\[[\d;]*m", "", written.decode()).splitlines()


def test_a_table_that_fits_stands_in_columns():
    lines = on_terminal([{"id": "first", "rows": 12}, {"id": "second", "rows": 3}], 40)
    assert [line.split() for line in lines] == [["id", "rows"], ["first", "12"], ["second", "3"]]


def test_one_that_is_far_too_wide_has_a_line_a_value_and_none_is_cut():
    lines = on_terminal(ROWS, 60)
    assert max(map(len, lines)) <= 60
    assert lines[0].split() == ["id", "first"]
    assert lines[1].split() == ["measured", "1.39"]
    assert lines[2].split()[0] == "reason"  # a cell without a value is left out
    assert sum(not line.strip() for line in lines) == 1  # between the two rows
    assert " ".join(lines).split().count("words") == 12
    assert ["low", "1.5"] in [line.split() for line in lines]


def test_a_pipe_gets_a_line_a_row():
    done = subprocess.run(
        [sys.executable, "-c", SHOW.format(rows=ROWS)], capture_output=True, text=True, check=True
    )
    assert len(done.stdout.splitlines()) == 1 + len(ROWS)
