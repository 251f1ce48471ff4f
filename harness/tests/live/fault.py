"""Faults that tests inject into a running run: the moment, the victim and the expected result."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench import rows


def registered(results: Path, words: str) -> list[int]:
    """Return the processes that the harness has registered under these words."""
    found = []
    for path in (results / "processes").glob("*.json"):
        try:
            text = path.read_text()
        except OSError:
            continue
        if words in text and path.stem.isdigit():
            found.append(int(path.stem))
    return found


def once(
    process: subprocess.Popen[str], results: Path, words: str, act: Callable[[int], Any], after: str
) -> None:
    """Do something to a registered process as soon as the trial's events name ``after``."""
    while process.poll() is None:
        started = any(
            after in path.read_text(errors="replace") for path in results.glob("runs/*/trials/*/events.jsonl")
        )
        for pid in registered(results, words) if started or not after else []:
            try:
                act(pid)
            except ProcessLookupError:
                continue
            return
        time.sleep(0.01)
    pytest.fail("the run ended before the fault could be injected: " + "".join(process.communicate()))


def ended(process: subprocess.Popen[str], code: int) -> str:
    out, err = process.communicate(timeout=240)
    assert process.returncode == code, out + err
    assert "Traceback" not in out + err
    return err


def reasons(results: Path) -> list[str]:
    return [str(row["reason"]) for row in rows(results, "select reason from trials where status = 'failed'")]


def clean(results: Path) -> None:
    """Nothing of the run is left running, mounted or registered."""
    assert list((results / "processes").glob("*.json")) == []
    assert list((results / "scratch").glob("*")) == []
    assert str(results) not in Path("/proc/self/mountinfo").read_text()
