"""A full or broken storage fails its trial alone, unless it shares the disk of the results."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchbook.errors import RequestError, TrialFailed
from benchbook.run import watchdog
from benchbook.run.trial import TrialRun


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


def test_an_input_output_error_is_the_storages_if_it_has_a_disk_of_its_own() -> None:
    at, elsewhere, unnamed = (
        OSError(errno.EIO, "Input/output error", name) for name in ("/mnt/data/db", "/results/x", None)
    )
    data = Path("/mnt/data")
    assert [watchdog.broken_storage(error, data) for error in (at, elsewhere, unnamed)] == [True, False, True]
    assert not any(watchdog.broken_storage(error, None) for error in (at, elsewhere, unnamed))
    assert not watchdog.broken_storage(OSError(errno.EMFILE, "Too many open files"), data)


@pytest.mark.parametrize("apart", [True, False])
def test_a_broken_disk_of_the_results_stops_the_run(tmp_path: Path, apart: bool) -> None:
    one = object.__new__(TrialRun)
    one.folder, one.context = tmp_path, SimpleNamespace(folder=tmp_path)  # type: ignore[assignment]
    one.apart, one.driver = (tmp_path / "data" if apart else None), None
    broken = OSError(errno.EIO, "Input/output error", str(tmp_path / "data" / "db"))
    if apart:
        assert one._defect(broken).endswith(
            "failed to read or write (input/output error); see harness-error.log"
        )
    else:
        with pytest.raises(RequestError, match="failed to read or write"):
            one._defect(broken)
