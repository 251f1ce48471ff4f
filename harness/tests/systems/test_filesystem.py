"""The local file system as an object store."""

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems.driver import TableCount
from benchbook.systems.filesystem import driver


def test_objects_are_files_of_the_data_folder(place, tmp_path):
    one = driver(place("filesystem", "1.2", settings={"sync": "folder"}))
    assert one.configure() == {"sync": "folder"}
    one.start()
    assert one.ready()
    one.prepare()
    assert len(list((tmp_path / "data" / "objects").iterdir())) == 256
    (tmp_path / "data" / "objects" / "0a" / "o").write_bytes(b"x" * 9000)
    one.settle()
    assert one.count() == {"objects": TableCount(1)}
    assert one.size()["data"] >= 9000
    assert one.version() == "1.2"
    one.stop()


def test_several_disks_have_a_folder_each(place, tmp_path):
    for number in (1, 2):
        (tmp_path / "data" / f"disk-{number}").mkdir(parents=True)
    one = driver(place("filesystem"))
    client = one.client(tmp_path)
    assert client.shares_process
    where = client._where()
    assert where[:2] == ["--target", "files"]
    assert where[3] == f"{tmp_path}/data/disk-1/objects,{tmp_path}/data/disk-2/objects"
    assert one.processes() == []


@pytest.mark.parametrize("settings", [{"sync": "all"}, {"block": 4096}])
def test_an_unknown_setting_is_refused(place, settings):
    with pytest.raises(
        TrialFailed,
        match="the only setting of a file system is sync, and its value is one of none, data, folder",
    ):
        driver(place("filesystem", settings=settings)).configure()
