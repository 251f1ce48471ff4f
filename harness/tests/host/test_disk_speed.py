"""The speed of a disk as fio sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.host import disk_speed
from benchbook.host.reading import NOT_READABLE

OUTPUT = """#!/bin/sh
case "$*" in
--version) echo fio-3.33 ;;
*randwrite*) echo '{"jobs": [{"write": {"iops": 812.345}, "read": {"iops": 0}}]}' ;;
*) exit 1 ;;
esac
"""


def test_each_job_is_a_fact_and_nothing_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "bin" / "fio"
    program.parent.mkdir()
    program.write_text(OUTPUT)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    found = disk_speed.disk_speed(tmp_path / "results")
    assert found["tool"] == "fio-3.33"
    assert found["synced_writes_per_second"] == 812.3
    assert found["reads_per_second"] == f"{NOT_READABLE}fio failed (CalledProcessError)"
    assert list((tmp_path / "results").iterdir()) == []


def test_without_fio_the_fact_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = disk_speed.disk_speed(tmp_path)
    assert set(found.values()) == {f"{NOT_READABLE}fio is not installed"}
