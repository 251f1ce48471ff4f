"""The local disk."""

import pytest

from benchbook.declare.storage import OPTIONS, Storage
from benchbook.errors import RequestError, TrialFailed
from benchbook.storage import local
from benchbook.storage.driver import StoragePlace, allocated
from benchbook.storage.find import storage


def declared(**changes):
    return Storage.model_validate({"name": "local", "title": "Local disk", "driver": "local"} | changes)


def test_a_trial_gets_an_empty_folder_that_is_removed_afterwards(tmp_path):
    one = storage(declared(), StoragePlace(tmp_path / "scratch" / "0001"))
    folder = one.mount()
    assert list(folder.iterdir()) == []
    (folder / "file").write_bytes(b"x" * 10_000)
    one.sync()
    assert 10_000 <= one.bytes() < 100_000
    one.unmount()
    assert not folder.exists()
    one.unmount()


def test_a_folder_that_holds_something_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrialFailed, match="is not empty"):
        storage(declared(), StoragePlace(tmp_path)).mount()


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrialFailed, match=r"cannot be created: .*--results"):
        storage(declared(), StoragePlace(tmp_path / "file" / "data")).mount()


def test_the_facts_name_file_system_options_and_room(tmp_path):
    one = storage(declared(), StoragePlace(tmp_path / "data"))
    one.mount()
    facts = one.facts()
    assert {"type", "mount_options", "device", "free_bytes", "size_bytes"} <= set(facts)
    assert facts["free_bytes"] > 0


def test_dropping_caches_says_whether_it_was_permitted(tmp_path, monkeypatch):
    one = storage(declared(), StoragePlace(tmp_path / "data"))
    one.mount()
    monkeypatch.setattr(local, "DROP_CACHES", tmp_path / "drop")
    monkeypatch.setattr(local, "in_memory", lambda _: False)
    assert one.drop_caches() is True
    assert (tmp_path / "drop").read_text() == "3\n"
    monkeypatch.setattr(local, "DROP_CACHES", tmp_path / "no" / "drop")
    assert one.drop_caches() is False


def test_what_was_written_is_synced_before_the_caches_are_dropped(tmp_path, monkeypatch):
    one, dropped_before = storage(declared(), StoragePlace(tmp_path / "data")), []
    one.mount()
    monkeypatch.setattr(local, "DROP_CACHES", tmp_path / "drop")
    monkeypatch.setattr(one, "sync", lambda: dropped_before.append((tmp_path / "drop").exists()))
    assert one.drop_caches() is True
    assert dropped_before == [False]


def test_an_option_that_it_does_not_know_is_a_mistake(tmp_path):
    with pytest.raises(RequestError, match='no key "size"'):
        storage(declared(options={"size": 1}), StoragePlace(tmp_path))


def test_an_unknown_driver_names_the_nearest(tmp_path):
    assert "local" in OPTIONS
    assert "driver" not in OPTIONS
    with pytest.raises(ValueError, match='did you mean "local"'):
        storage(declared(driver="locale"), StoragePlace(tmp_path))


def test_bytes_are_those_allocated_not_those_of_sparse_files(tmp_path):
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(64 << 20)
    assert allocated(tmp_path) < 1 << 20
    assert allocated(tmp_path / "missing") == 0
