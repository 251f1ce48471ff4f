"""A full storage is reported as the cause of a failure, unless it shares the disk of the results."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchbook.errors import TrialFailed
from benchbook.run import watchdog


@pytest.fixture
def disks(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    state = {"free": 100, "device": 2}
    monkeypatch.setattr(
        os, "stat", lambda path: SimpleNamespace(st_dev=state["device"] if "data" in str(path) else 1)
    )
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=1 << 24, free=state["free"]))
    return state


def test_a_full_storage_is_told_with_its_bytes(disks: dict[str, int]) -> None:
    words = watchdog.disk_full_note("loop-ext4", Path("data"), Path("results"))
    assert words == " The storage loop-ext4 is full: 100 of 16777216 bytes are free."
    disks["free"] = 8 << 20
    assert watchdog.disk_full_note("loop-ext4", Path("data"), Path("results")) == ""
    disks |= {"free": 0, "device": 1}
    assert watchdog.disk_full_note("local", Path("data"), Path("results")) == "", (
        "the run is to stop, and can be resumed"
    )


def test_what_the_harness_cannot_write_there_fails_the_trial_alone(disks: dict[str, int]) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    with (
        pytest.raises(TrialFailed, match="loop-ext4 is full"),
        watchdog.disk_full_as_failure("loop-ext4", Path("data"), Path("r")),
    ):
        raise full
    disks["device"] = 1
    with (
        pytest.raises(OSError, match="No space"),
        watchdog.disk_full_as_failure("local", Path("data"), Path("r")),
    ):
        raise full
