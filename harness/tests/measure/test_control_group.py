"""Counters of control groups of both versions, from files in the form of the kernel."""

import os

import pytest

from benchbook.host.reading import Tree
from benchbook.measure.usage import ControlGroup


@pytest.fixture
def write(tmp_path):
    def made(path, text):
        file = tmp_path / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return made


def test_version_1(tmp_path, write):
    for name in ("cpu,cpuacct", "memory", "blkio"):
        write(f"/sys/fs/cgroup/{name}/docker/abc/cgroup.procs", "7\n9\n")
    write(
        "/proc/self/mountinfo",
        "".join(
            f"3{at} 31 0:{at} / /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}\n"
            for at, name in enumerate(("cpu,cpuacct", "memory", "blkio"))
        ),
    )
    write("/proc/7/cgroup", "3:cpu,cpuacct:/docker/abc\n2:memory:/docker/abc\n1:blkio:/docker/abc\n")
    write("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpuacct.usage_user", "1500000000\n")
    write("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpuacct.usage_sys", "250000000\n")
    write("/sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "4096\n")
    write(
        "/sys/fs/cgroup/blkio/docker/abc/blkio.throttle.io_service_bytes",
        "254:0 Read 10\n254:0 Write 300\n254:0 Total 310\n8:0 Read 5\n8:0 Write 7\nTotal 322\n",
    )
    group = ControlGroup.of(7, Tree(tmp_path))
    assert group.usage() == {
        "cpu_user_seconds": 1.5,
        "cpu_system_seconds": 0.25,
        "memory_bytes": 4096.0,
        "read_bytes": 15.0,
        "write_bytes": 307.0,
    }
    assert group.pids() == [7, 9]


def test_version_2(tmp_path, write):
    folder = "/sys/fs/cgroup/system.slice/docker-abc.scope"
    write("/proc/self/mountinfo", "30 29 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    write("/proc/7/cgroup", "0::/system.slice/docker-abc.scope\n")
    write(f"{folder}/cgroup.procs", "7\n")
    write(f"{folder}/cpu.stat", "usage_usec 1750000\nuser_usec 1500000\nsystem_usec 250000\n")
    write(f"{folder}/memory.current", "4096\n")
    write(f"{folder}/io.stat", "254:0 rbytes=10 wbytes=300 rios=1 wios=2\n8:0 rbytes=5 wbytes=7 rios=1\n")
    group = ControlGroup.of(7, Tree(tmp_path))
    assert group.usage() == {
        "cpu_user_seconds": 1.5,
        "cpu_system_seconds": 0.25,
        "memory_bytes": 4096.0,
        "read_bytes": 15.0,
        "write_bytes": 307.0,
    }
    assert group.pids() == [7]


def test_what_is_not_there_is_left_out(tmp_path):
    assert ControlGroup.of(os.getpid(), Tree(tmp_path)).usage() == {}
    assert ControlGroup.of(os.getpid(), Tree(tmp_path)).pids() == []
