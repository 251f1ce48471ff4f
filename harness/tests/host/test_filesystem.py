"""Whether files are in memory, also through the file of a loop device."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.host.filesystem import in_memory
from benchbook.host.reading import Tree

MOUNTS = """\
20 1 8:1 / / rw - ext4 /dev/sda1 rw
21 20 0:30 / /run/fast rw - tmpfs tmpfs rw
22 20 7:0 / /loops/on-memory rw - ext4 /dev/loop0 rw
23 20 7:1 / /loops/on-disk rw - ext4 /dev/loop1 rw
24 20 252:0 / /zram rw - ext4 /dev/zram0 rw
25 20 0:31 / /image rw - overlay overlay rw
"""


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(MOUNTS)
    (tmp_path / "sys/dev/block").mkdir(parents=True)
    for number, name in (("8:1", "sda1"), ("7:0", "loop0"), ("7:1", "loop1"), ("252:0", "zram0")):
        (tmp_path / "sys/block" / name).mkdir(parents=True)
        (tmp_path / "sys/dev/block" / number).symlink_to(tmp_path / "sys/block" / name)
    for name, file in (("loop0", "/run/fast/0001.ext4"), ("loop1", "/home/0001.ext4")):
        (tmp_path / "sys/block" / name / "loop").mkdir()
        (tmp_path / "sys/block" / name / "loop/backing_file").write_text(f"{file}\n")
    return Tree(tmp_path)


@pytest.mark.parametrize(
    ("folder", "found"),
    [
        ("/run/fast/data", True),
        ("/loops/on-memory/data", True),
        ("/loops/on-disk/data", False),
        ("/zram/data", True),
        ("/home/data", False),
        ("/image/data", False),
    ],
)
def test_a_loop_device_over_a_tmpfs_is_memory(tree: Tree, folder: str, found: bool) -> None:
    assert in_memory(Path(folder), tree) is found
