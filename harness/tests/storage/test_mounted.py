"""Storages that are mounted: tmpfs and the private ext4, as root; and leftovers of a killed harness."""

import json
from pathlib import Path

import pytest

from benchbook.errors import RequestError, Unavailable
from benchbook.process import leftovers
from benchbook.storage import mounting
from benchbook.storage.find import storage
from tests.storage.mounted import declared, mounted, place

NAMES = {"tmpfs": "tmpfs", "loop": "ext4"}


@pytest.fixture
def one(request, tmp_path):
    with mounted(tmp_path, request.param, size_mib=64) as made:
        yield made


@pytest.mark.parametrize(("one", "kind"), NAMES.items(), indirect=["one"])
def test_it_is_its_own_file_system_of_the_asked_size_and_gone_afterwards(one, kind, tmp_path):
    assert list(one.folder.iterdir()) == []
    facts = one.facts()
    assert facts["type"] == kind
    assert 32 << 20 < facts["size_bytes"] <= 64 << 20
    (one.folder / "file").write_bytes(b"x" * (1 << 20))
    one.sync()
    assert 1 << 20 <= one.bytes() < 2 << 20
    one.check()
    one.unmount()
    assert list((tmp_path / "scratch").iterdir()) == []
    assert list((tmp_path / "mounts").iterdir()) == []
    one.unmount()


def test_a_driver_that_is_none_and_a_small_xfs_are_refused() -> None:
    with pytest.raises(ValueError, match=r"no storage driver loop_ext4; allowed: .*did you mean"):
        declared("loop_ext4")
    with pytest.raises(RequestError, match="XFS takes at least 300 MiB"):
        declared("loop", file_system="xfs", size_mib=64).typed()


@pytest.mark.parametrize("kind", ["ext3", "xfs"])
def test_a_loop_device_has_the_declared_file_system(kind: str, tmp_path: Path) -> None:
    with mounted(tmp_path, "loop", size_mib=320, file_system=kind) as made:
        facts = made.facts()
        assert (facts["type"], facts["made_with"].split()[0]) == (kind, f"mkfs.{kind}")
        (made.folder / "file").write_bytes(b"x")
        made.check()
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.parametrize("one", NAMES, indirect=True)
def test_what_a_killed_harness_left_mounted_is_undone_at_the_next_start(one, tmp_path):
    (one.folder / "file").write_bytes(b"x")
    (file,) = (tmp_path / "mounts").glob("*.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"owner_pid": 2**22 + 1}))
    (words,) = mounting.sweep_mounts(tmp_path / "mounts")
    assert str(tmp_path / "scratch" / "0001") in words
    assert list((tmp_path / "scratch").iterdir()) == []
    assert mounting.sweep_mounts(tmp_path / "mounts") == []


@pytest.mark.parametrize("one", ["tmpfs"], indirect=True)
def test_what_a_living_harness_mounted_is_left_alone(one, tmp_path):
    assert mounting.sweep_mounts(tmp_path / "mounts") == []
    assert mounting.mounted(one.folder)


@pytest.mark.parametrize("one", ["tmpfs"], indirect=True)
def test_a_file_that_is_still_open_does_not_keep_it_mounted(one, monkeypatch):
    monkeypatch.setattr(mounting, "BUSY_SECONDS", 0.1)
    with (one.folder / "file").open("w"):
        one.unmount()
        assert not mounting.mounted(one.folder)


def test_memory_cannot_be_cold(tmp_path):
    assert storage(declared("tmpfs"), place(tmp_path)).drop_caches() is False


def test_a_file_that_is_no_record_is_left_alone(tmp_path):
    (tmp_path / "x.json").write_text("{")
    assert mounting.sweep_mounts(tmp_path) == []
    assert (tmp_path / "x.json").read_text() == "{"


def test_a_level_of_a_cell_takes_the_place_of_an_option():
    one = declared("minio_s3fs", parallel_count=5)
    assert one.typed({"parallel_count": 20, "system": "x"}).parallel_count == 20
    assert one.typed().multipart_size_mib == 10
    with pytest.raises(RequestError, match='options of the storage "one"'):
        one.typed({"multipart_size_mib": 1})


def test_a_command_that_refuses_is_told_in_its_own_words():
    with pytest.raises(Unavailable, match="x cannot be mounted"):
        mounting.mount(["-t", "nosuchfs", "none", "/nonexistent"], "x")
    with pytest.raises(Unavailable, match="No such file"):
        mounting.run(["no-such-program"], "x", "y")


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"point": 5, "behind": []},
        {"point": "{scratch}/gone", "behind": "x"},
        {"point": "{outside}", "behind": []},
        {"point": "{scratch}/../outside", "behind": []},
        {"point": "{scratch}/gone", "behind": ["{outside}/file"]},
        {"point": "{scratch}/link/file", "behind": []},
        {"point": "{scratch}", "behind": []},
        {"point": "{scratch}/a\0b", "behind": []},
    ],
)
def test_a_record_of_a_stranger_removes_nothing_outside_the_scratch_folder(tmp_path, record):
    scratch, outside = tmp_path / "scratch", tmp_path / "outside"
    scratch.mkdir(), outside.mkdir()
    (outside / "file").write_text("precious")
    (scratch / "link").symlink_to(outside)
    text = json.dumps(record).replace("{scratch}", str(scratch)).replace("{outside}", str(outside))
    found = json.loads(text)
    file = mounting._file(tmp_path / "mounts", Path(str(found.get("point"))))
    leftovers.write_record(file, found)
    file.write_text(json.dumps(json.loads(file.read_text()) | {"owner_pid": 2**22 + 1}))
    assert mounting.sweep_mounts(tmp_path / "mounts") == []
    assert (outside / "file").read_text() == "precious"
    assert scratch.is_dir()
    assert file.exists() == (type(found.get("point")) is not str)
