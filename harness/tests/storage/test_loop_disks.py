"""Several disks below one data folder: separate file systems, all removed afterwards, also after a crash."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchbook.declare.experiment import Limits
from benchbook.errors import Unavailable
from benchbook.process import confinement
from benchbook.process.confinement import Confinement, ControlGroup, confine
from benchbook.storage import mounting
from benchbook.storage.driver import disks, spread
from tests.storage.mounted import mounted


@pytest.fixture
def three(tmp_path):
    with mounted(tmp_path, "loop_disks", disks=3, size_mib=32) as made:
        yield made


def backed(tmp_path):
    """Return the loop devices with a file in the test's folder."""
    found = []
    for file in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            found += [file] if str(tmp_path) in file.read_text() else []
        except OSError:
            continue
    return found


def test_each_disk_is_a_file_system_of_its_own(three, tmp_path):
    found = disks(three.folder)
    assert [disk.name for disk in found] == ["disk-1", "disk-2", "disk-3"]
    assert len({disk.stat().st_dev for disk in (*found, three.folder)}) == 4
    assert all(list(disk.iterdir()) == [] for disk in found)
    assert len(backed(tmp_path)) == 3
    facts = three.facts()
    assert (facts["type"], facts["disks"]) == ("ext4", 3)
    (found[1] / "file").write_bytes(b"x" * (1 << 20))
    three.sync()
    assert 1 << 20 <= three.bytes() < 2 << 20


SYNCED = """
import os, sys, time
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
began = time.monotonic()
for number in range(40):
    os.pwrite(file, b"x" * 4096, number * 4096)
    os.fdatasync(file)
print(time.monotonic() - began)
"""


def test_a_slow_disk_takes_so_many_writes_per_second(tmp_path):
    """40 synced writes at 50 per second take at least half a second on any machine."""
    with mounted(tmp_path, "loop_disks", disks=2, size_mib=32, writes_per_second=50) as made:
        limits = made.throttled()
        assert sorted(limits.values()) == [50, 50]
        assert made.facts()["writes_per_second"] == 50
        try:
            group = ControlGroup(Limits(), 9997, writes=limits)
        except Unavailable as reason:
            pytest.skip(str(reason))
        try:
            assert len(group.writes_in_force()) == 2
            command = [sys.executable, "-c", SYNCED, str(disks(made.folder)[1] / "file")]
            with confine(Confinement(tuple(group.entries()))), confinement.before_exec() as enter:
                done = subprocess.run(command, capture_output=True, text=True, check=True, preexec_fn=enter)
        finally:
            group.remove()
        assert float(done.stdout) > 0.5


def test_disks_without_a_limit_need_no_group(three):
    assert three.throttled() == {}


def test_all_of_them_are_gone_afterwards(three, tmp_path):
    three.unmount()
    assert list((tmp_path / "scratch").iterdir()) == []
    assert list((tmp_path / "mounts").iterdir()) == []
    assert backed(tmp_path) == []
    three.unmount()


def test_a_disk_in_use_is_taken_away_all_the_same(three, tmp_path, monkeypatch):
    monkeypatch.setattr(mounting, "BUSY_SECONDS", 0.1)
    with (disks(three.folder)[2] / "file").open("w"):
        three.unmount()
        assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()


def test_one_that_cannot_be_mounted_leaves_none_of_the_others(three, tmp_path, monkeypatch):
    three.unmount()
    calls = []

    def refuse(arguments, words):
        calls.append(arguments)
        if len(calls) == 3:
            raise Unavailable("no loop device is left.", "")
        return real(arguments, words)

    real = mounting.mount
    monkeypatch.setattr(mounting, "mount", refuse)
    with pytest.raises(Unavailable, match="no loop device"):
        three.mount()
    three.unmount()
    assert list((tmp_path / "scratch").iterdir()) == []
    assert list((tmp_path / "mounts").iterdir()) == []
    assert backed(tmp_path) == []


def test_what_a_killed_harness_left_mounted_is_undone_at_the_next_start(three, tmp_path):
    (disks(three.folder)[0] / "file").write_bytes(b"x")
    for file in (tmp_path / "mounts").glob("*.json"):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"owner_pid": 2**22 + 1}))
    assert len(mounting.sweep_mounts(tmp_path / "mounts")) == 3
    assert backed(tmp_path) == []
    assert [path for path in (tmp_path / "scratch").rglob("*") if path.is_file()] == []
    assert mounting.sweep_mounts(tmp_path / "mounts") == []


def test_folders_are_apart_where_there_are_several_disks(tmp_path):
    folders = {"data.dir": "data", "data.wal-dir": "wal"}
    assert spread(tmp_path, folders, ("data.wal-dir",)) == folders
    for number in (1, 2, 3):
        (tmp_path / f"disk-{number}").mkdir()
    found = spread(tmp_path, folders, ("data.wal-dir",))
    assert found == {"data.dir": "disk-1/data", "data.wal-dir": "disk-3/wal"}
