"""Control groups: version 2 on a tree of files, version 1 or 2 on this machine's kernel."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchbook.declare.experiment import Limits
from benchbook.errors import Unavailable
from benchbook.host.reading import Tree
from benchbook.process import confinement
from benchbook.process.confinement import Confinement, ControlGroup, confine
from benchbook.process.spawn import start

LIMITS = Limits(memory_bytes=64 << 20, cpu_cores=0.25)
V2 = "30 20 0:25 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
V1 = (
    "30 20 0:25 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "31 20 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
)


def machine(tmp_path, mounts, membership, *groups):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(mounts)
    (tmp_path / "proc/self/cgroup").write_text(membership)
    for group in groups:
        (tmp_path / "sys/fs/cgroup" / group).mkdir(parents=True)
    return Tree(tmp_path)


def kernel_files(monkeypatch, *names):
    """Create in each new group the files that the kernel would create."""
    made = confinement._make

    def with_files(*arguments):
        folder = made(*arguments)
        for name in names:
            (folder / name).touch()
        return folder

    monkeypatch.setattr(confinement, "_make", with_files)


def test_version_2_moves_the_harness_aside_and_sets_both_limits_in_one_folder(tmp_path, monkeypatch):
    tree = machine(tmp_path, V2, "0::/user/bench\n", "user/bench")
    home = tmp_path / "sys/fs/cgroup/user/bench"
    (home / "cgroup.subtree_control").write_text("")
    (home / "cgroup.procs").write_text(f"{os.getpid()}\n")
    kernel_files(monkeypatch, "memory.max", "memory.swap.max", "cpu.max", "cgroup.procs")
    refused = []

    def write(path, text):
        if path.name == "cgroup.subtree_control" and not refused:
            refused.append(text)
            raise OSError(16, "Device or resource busy")
        path.write_text(text)

    monkeypatch.setattr(confinement, "_write", write)
    group = ControlGroup(LIMITS, 7, tree)
    assert refused == ["+memory"]
    assert (home / confinement.HARNESS / "cgroup.procs").read_text() == str(os.getpid())
    assert len(group.entries()) == 1
    assert group.in_force() == LIMITS
    assert (group.folders["memory"] / "memory.swap.max").read_text() == "0"
    # The second time the harness is in the sibling group, and the new group is still its sibling, not its child.
    (tmp_path / "proc/self/cgroup").write_text(f"0::/user/bench/{confinement.HARNESS}\n")
    assert ControlGroup(LIMITS, 8, tree).folders["memory"].parent == home


def test_version_1_has_a_folder_for_each_controller(tmp_path, monkeypatch):
    tree = machine(tmp_path, V1, "4:memory:/box\n1:cpu:/\n", "memory/box", "cpu")
    kernel_files(
        monkeypatch, "memory.limit_in_bytes", "cpu.cfs_quota_us", "cpu.cfs_period_us", "cgroup.procs"
    )
    group = ControlGroup(LIMITS, 1, tree)
    assert group.folders["memory"].parent == tmp_path / "sys/fs/cgroup/memory/box"
    assert group.folders["cpu"].parent == tmp_path / "sys/fs/cgroup/cpu"
    assert group.in_force() == LIMITS
    (group.folders["memory"] / "memory.oom_control").write_text(
        "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"
    )
    (group.folders["memory"] / "memory.max_usage_in_bytes").write_text("1234\n")
    (group.folders["cpu"] / "cpu.stat").write_text("nr_periods 4\nthrottled_time 2000000000\n")
    assert group.usage() == {"memory_peak_bytes": 1234.0, "memory_kills": 3, "throttled_seconds": 2.0}


@pytest.mark.parametrize(
    ("mounts", "membership", "home", "file", "stated"),
    [
        (
            "30 20 0:25 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n", "4:blkio:/box\n",
            "blkio/box", confinement.V1_WRITES, "7:1 200",
        ),
        (V2, "0::/user/bench\n", "user/bench", "io.max", "7:1 wiops=200"),
    ],
)  # fmt: skip
def test_writes_to_a_device_are_limited(tmp_path, monkeypatch, mounts, membership, home, file, stated):
    tree = machine(tmp_path, mounts, membership, home)
    if file == "io.max":
        (tmp_path / "sys/fs/cgroup" / home / "cgroup.subtree_control").write_text("io")
    kernel_files(monkeypatch, file, "cgroup.procs")
    group = ControlGroup(Limits(), 1, tree, {"7:1": 200})
    [folder] = group.folders.values()
    assert folder.parent == tmp_path / "sys/fs/cgroup" / home
    assert (folder / file).read_text() == stated
    assert group.writes_in_force() == [stated]
    assert len(group.entries()) == 1
    assert ControlGroup(Limits(), 2, tree).folders == {}


def test_where_writes_cannot_be_limited_that_is_said(tmp_path):
    with pytest.raises(Unavailable, match="A limit of writes per second needs a control group"):
        ControlGroup(Limits(), 1, machine(tmp_path, "", "0::/\n"), {"7:1": 200})


def test_where_no_group_can_be_made_the_reason_and_the_next_step_are_told(tmp_path):
    tree = machine(tmp_path, "", "0::/\n")
    with pytest.raises(Unavailable, match=r"needs a control group.*no hierarchy.*systemd-run --user"):
        ControlGroup(LIMITS, 1, tree)


@contextlib.contextmanager
def real_group(limits):
    """Yield a group of this machine's kernel, or skip with the kernel's error."""
    try:
        group = ControlGroup(limits, 9999)
    except Unavailable as reason:
        pytest.skip(str(reason))
    try:
        yield group
    finally:
        group.remove()


def test_a_started_process_and_its_children_are_in_the_group_from_the_first_instruction(tmp_path):
    with real_group(LIMITS) as group:
        with confine(Confinement(tuple(group.entries()))):
            running = start(["sh", "-c", "sleep 60 & wait"], name="a shell", log=tmp_path / "log")
        try:
            while len(running.tree()) < 2:
                running.check()
            assert group.in_force() == LIMITS
            assert set(running.tree()) <= group.members()
            assert os.getpid() not in group.members()
        finally:
            running.stop()
    assert not any(folder.exists() for folder in group.folders.values())


def test_more_memory_than_the_limit_is_a_kill_that_is_counted(tmp_path):
    with real_group(Limits(memory_bytes=32 << 20)) as group:
        with confine(Confinement(tuple(group.entries()))):
            running = start(
                [sys.executable, "-c", "b = bytearray(1 << 28)"], name="a glutton", log=tmp_path / "log"
            )
        running.wait_ending(30.0)
        assert running.ending() == "was ended by SIGKILL"
        assert group.kills() == 1
        running.stop()


def test_what_a_dead_harness_left_is_swept_with_what_runs_in_it_and_a_living_one_keeps_its_own():
    code = (
        "import subprocess; from benchbook.declare.experiment import Limits\n"
        "from benchbook.process.confinement import ControlGroup\n"
        "group = ControlGroup(Limits(memory_bytes=1 << 26), 1)\n"
        "left = subprocess.Popen(['sleep', '600'], stdout=-3, stderr=-3)\n"
        "group.entries()[0].write_text(str(left.pid))\n"
        "print(group.folders['memory'], left.pid, flush=True)\n"
        "import os; os.kill(os.getpid(), 9)"
    )
    with real_group(Limits(memory_bytes=1 << 26)) as own:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd="/",
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
        folder, pid = done.stdout.rsplit(maxsplit=1)
        confinement.sweep()
        assert not Path(folder).exists()
        stat = Path(f"/proc/{pid}/stat")
        assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] in "ZX"
        assert own.folders["memory"].exists()
