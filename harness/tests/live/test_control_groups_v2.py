"""Limits by control groups of version 2, on a kernel that has no others: a user-mode Linux on this machine's files."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bench import HARNESS, WITHOUT_REPORT, environment, need_benchload

PYTHON = [sys.executable, "-P", "-m", "benchbook"]
RUN = [
    sys.executable, "-P", "-c", WITHOUT_REPORT, "run", "quickstart", "--profile", "smoke", "--trials", "1",
    "--set", "system=sqlite", "--set", "queries=20", "--set", "memory_limit=256MiB,8MiB",
    "--set", "cpu_limit=0.5", "--results", "r",
]  # fmt: skip
ASKED = (
    "select name, expected, found, ok from checks where name like '%limit%' or name like '%control group%' "
    "union all select 'kills', level, cast(value as int), value = 0 from measurements join levels using (trial_id) "
    "where metric = 'limited_memory_kills' and factor = 'memory_limit' order by all"
)


def booted(folder: Path, *commands: list[str]) -> str:
    """Boot a kernel on the files of this machine, carry out commands in it, and return what they said."""
    if os.geteuid() != 0 or shutil.which("linux.uml") is None:
        pytest.skip("linux.uml is not on PATH, or this is no root: apt-get install user-mode-linux")
    (folder / "tmp").mkdir()
    exports = [
        f"export {name}={shlex.quote(value)}" for name, value in environment().items() if name.isidentifier()
    ]
    init = folder / "init"
    init.write_text(
        "\n".join(
            [
                "#!/bin/sh", "mount -t proc proc /proc", "mount -t sysfs sys /sys",
                f"mount -t tmpfs tmp {folder}/tmp", "mount -t cgroup2 cgroup2 /sys/fs/cgroup", *exports,
                f"export TMPDIR={folder}/tmp PYTHONDONTWRITEBYTECODE=1 NO_COLOR=1", "ip link set lo up",
                f"cd {folder}/tmp", *(f"{shlex.join(command)} 2>&1" for command in commands),
                "ls /sys/fs/cgroup | grep benchbook && echo LEFT", "echo o > /proc/sysrq-trigger", "sleep 10",
            ]
        )
    )  # fmt: skip
    init.chmod(0o755)
    kernel = [
        "linux.uml", "mem=1024M", "rootfstype=hostfs", "rootflags=/", "rw", f"init={init}", "con=null",
        "con0=null,fd:1", "quiet", f"uml_dir={folder}",
    ]  # fmt: skip
    done = subprocess.run(kernel, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=800)
    said = done.stdout.decode(errors="replace")
    if "sysrq: Power Off" not in said:
        pytest.skip(f"a user-mode Linux cannot be booted here: {said[-500:]}")
    return said


@pytest.mark.timeout(900)
def test_every_call_of_a_control_group(tmp_path: Path) -> None:
    tests = str(HARNESS / "tests/process/test_control_group.py")
    said = booted(
        tmp_path,
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-rs",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            str(HARNESS),
            tests,
        ],
    )
    assert re.search(r"[1-9]\d* passed in ", said), said
    # Not the bare words: the kernel reports failures of its devices.
    assert not re.search(r"\d+ (failed|skipped|error)", said), said
    assert "LEFT" not in said


@pytest.mark.timeout(900)
def test_a_run_under_limits_that_are_read_back_from_the_kernel(tmp_path: Path) -> None:
    need_benchload()
    said = booted(tmp_path, RUN, [*PYTHON, "sql", "--json", "--results", "r", ASKED])
    assert "1 failed, 1 ok" in said, said
    assert "Its memory limit of 8388608 bytes was reached: the kernel killed 1 of its processes." in said
    flat = " ".join(said.split())
    for expected in (
        '"name": "memory limit in force, bytes", "expected": "268435456", "found": "268435456", "ok": true',
        '"name": "CPU limit in force, thousandths of a core", "expected": "500", "found": "500", "ok": true',
        '"name": "processes of the system outside its control group", "expected": "0", "found": "0", "ok": true',
        '"name": "kills", "expected": "8MiB", "found": "1", "ok": false',
    ):
        assert expected in flat
    assert "Traceback" not in said
    assert "LEFT" not in said
