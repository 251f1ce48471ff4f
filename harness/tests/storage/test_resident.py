"""The share of a folder that is in memory."""

import mmap
import os

import pytest

from benchbook.storage import local
from benchbook.storage.driver import StoragePlace
from benchbook.storage.local import Storage, drop_page_cache, resident
from benchbook.storage.tmpfs import driver as tmpfs


def test_what_was_just_written_is_in_memory_and_what_is_no_file_counts_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"x" * (3 * mmap.PAGESIZE + 1))
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "fifo")
    assert resident(tmp_path) == 3 * mmap.PAGESIZE + 1
    assert Storage(tmp_path).cached_bytes() == 3 * mmap.PAGESIZE + 1
    assert resident(tmp_path / "missing") == 0


def test_what_was_given_up_is_not(tmp_path):
    with (tmp_path / "file").open("wb") as file:
        file.write(b"x" * (8 * mmap.PAGESIZE))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    left = resident(tmp_path)
    if left == 8 * mmap.PAGESIZE:
        pytest.skip("this file system is memory, or keeps its pages")
    assert left == 0


def test_a_cache_that_was_dropped_and_still_holds_the_data_is_not_empty(tmp_path, monkeypatch):
    monkeypatch.setattr(local, "DROP_CACHES", tmp_path / "drop")
    monkeypatch.setattr(local, "in_memory", lambda _: False)
    data = tmp_path / "data"
    data.mkdir()
    assert drop_page_cache(data)
    (data / "file").write_bytes(b"x")
    assert not drop_page_cache(data)


def test_the_cache_of_what_is_itself_in_memory_is_never_empty(tmp_path, monkeypatch):
    monkeypatch.setattr(local, "DROP_CACHES", tmp_path / "drop")
    monkeypatch.setattr(local, "in_memory", lambda _: True)
    assert not drop_page_cache(tmp_path / "data")


def test_all_of_a_tmpfs_is_in_memory(tmp_path):
    from benchbook.declare.storage import SizedOptions

    one = tmpfs(SizedOptions(), StoragePlace(tmp_path))
    (tmp_path / "file").write_bytes(b"x" * mmap.PAGESIZE)
    assert one.cached_bytes() == one.bytes() > 0
