"""SeaweedFS: its flags with and without a gateway, and its answers."""

import json
import stat

import pytest

from benchbook.errors import TrialFailed
from benchbook.storage.s3 import S3
from benchbook.systems.driver import TableCount
from benchbook.systems.seaweedfs import driver


@pytest.fixture
def local(place, web, monkeypatch):
    """Return a maker of configured drivers whose master and volume server are the double."""

    def make(**settings):
        one = driver(place("weed", settings=settings))
        one.configure()
        monkeypatch.setattr(one, "_addresses", [f"127.0.0.1:{web.port}"] * 8)
        monkeypatch.setattr(one, "url", web.url)
        return one

    return make


def test_flags_are_returned_without_ports_and_folders(place, tmp_path):
    one = driver(place("weed", settings={"volumes": 3, "sync": "data", "volume.index": "leveldb"}))
    shown = one.configure()
    assert shown["master.toml"] == "[master.volume_growth]\ncopy_1 = 3\n"
    flags = shown["flags"].splitlines()
    assert "-volume.index=leveldb" in flags
    assert "-master.telemetry=false" in flags
    assert not any(".port" in flag or str(tmp_path) in flag or "sync" in flag for flag in flags)
    command = list(map(str, one.command()))
    assert f"-dir={tmp_path}/data/volumes" in command
    assert f"-master.port={one.url.rpartition(':')[2]}" in command
    assert "-filer=true" not in command
    assert (tmp_path / "data" / "volumes").is_dir()


def test_a_gateway_has_keys_that_nobody_else_may_read(place, tmp_path):
    one = driver(place("weed", settings={"gateway": True}))
    assert "-s3=true" in one.configure()["flags"]
    assert one.target == "s3"
    file = tmp_path / "data" / "s3.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text())["identities"][0]["credentials"] == [
        {"accessKey": "benchbook", "secretKey": one.s3.secret_key}
    ]
    assert one.s3.secret_key not in " ".join(map(str, one.command()))


def test_several_disks_have_a_folder_each(place, tmp_path):
    for number in (1, 2):
        (tmp_path / "data" / f"disk-{number}").mkdir(parents=True)
    one = driver(place("weed"))
    one.configure()
    command = list(map(str, one.command()))
    assert f"-dir={tmp_path}/data/disk-1/volumes,{tmp_path}/data/disk-2/volumes" in command
    assert "-volume.max=64,64" in command


def test_an_external_server_is_refused(place):
    with pytest.raises(TrialFailed, match=r"http://db:9333 is a running server.*--system weed=PATH"):
        driver(place("weed", url="http://db:9333")).configure()


def test_it_is_ready_when_it_assigns_and_its_gateway_answers(local, web, monkeypatch):
    web.answers["GET /dir/assign"] = {"error": "no free volumes"}
    assert not local().ready()
    web.answers["GET /dir/assign"] = {"fid": "3,01"}
    assert local().ready()
    monkeypatch.setattr(S3, "answers", lambda self: False)
    assert not local(gateway=True).ready()


def test_the_version_is_the_second_word(local, web):
    web.answers["GET /dir/status"] = {"Version": "30GB 4.48 abc"}
    assert local().version() == "4.48"
    web.answers["GET /dir/status"] = {}
    assert local().version() == "unknown"


def test_deleted_files_are_not_counted(local, web):
    web.answers["GET /status"] = {"Volumes": [{"FileCount": 9, "DeleteCount": 2}, {"FileCount": 1}]}
    assert local().count() == {"objects": TableCount(8)}
    web.answers["GET /status"] = {"Volumes": None}
    assert local().count() == {"objects": TableCount(0)}


def test_clients_go_through_the_gateway_where_there_is_one(local, tmp_path):
    assert local(gateway=True).client(tmp_path)._url().startswith("http://127.0.0.1:")
    plain = local(sync="data").client(tmp_path)
    assert plain._where()[1] == "seaweedfs"
    assert plain.own_flags == {"blob": ("--sync=data",)}
