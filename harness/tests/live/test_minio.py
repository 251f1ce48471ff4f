"""A real MinIO, as a system and behind a bucket that s3fs mounts."""

import json
import os
import signal
import subprocess
import time
from functools import partial

import pytest
from built import go_request

from benchbook.declare.catalogue import Catalogue
from benchbook.errors import TrialFailed, Unavailable
from benchbook.host.identity import identity, process_space
from benchbook.process import leftovers, strays
from benchbook.provision.find import find
from benchbook.provision.request import Request
from benchbook.storage import mounting
from benchbook.storage.driver import StoragePlace
from benchbook.storage.find import storage
from benchbook.systems.driver import Place, driver


@pytest.fixture(scope="session")
def minio():
    try:
        return find(Catalogue().system("minio"), go_request())
    except Unavailable as reason:
        pytest.skip(str(reason))


def test_it_states_its_pinned_version_and_counts_objects(minio, tmp_path):
    folders = {name: tmp_path / name for name in ("data", "config", "logs")}
    for folder in folders.values():
        folder.mkdir()
    one = driver("minio", Place(minio, "vanilla", {}, **folders))
    try:
        one.configure()
        one.start()
        deadline = time.monotonic() + 60
        while not one.ready():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert one.version() == Catalogue().system("minio").version
        one.prepare()
        assert one.count()["objects"].rows == 0
        assert one.size()["meta"] > 0
        assert one.processes()
        with pytest.raises(TrialFailed, match="NO_SUCH_BUCKET"):
            one.s3.object_sizes("no-such-bucket")
    finally:
        one.stop()
    assert one.processes() == []


@pytest.fixture
def bucket(minio, tmp_path):
    catalogue = Catalogue()
    declared = catalogue.storage("minio-s3fs")
    try:
        s3fs = find(catalogue.system("s3fs"), Request())
        place = StoragePlace(
            tmp_path / "scratch" / "0001", {"minio": minio, "s3fs": s3fs}, tmp_path / "logs",
            tmp_path / "processes", tmp_path / "mounts",
        )  # fmt: skip
        made = storage(declared, place, {"disk_cache": True})
        made.mount()
    except Unavailable as reason:
        pytest.skip(f"s3fs: {reason.message}")
    yield made
    made.unmount()


def test_what_is_written_into_the_mount_is_in_the_bucket_and_read_from_it_when_cold(bucket, tmp_path):
    content = os.urandom(1 << 20)
    (bucket.folder / "file").write_bytes(content)
    bucket.sync()
    assert bucket.bytes() >= len(content)
    before = bucket.counters()
    assert before["storage_bucket_write_bytes"] >= len(content)
    dropped = bucket.drop_caches()
    assert (bucket.folder / "file").read_bytes() == content
    after = bucket.counters()
    assert after["storage_bucket_read_bytes"] - before["storage_bucket_read_bytes"] >= len(content)
    assert after["storage_get_requests"] > before["storage_get_requests"]
    assert dropped == (os.geteuid() == 0)
    assert bucket.facts()["type"] == "fuse.s3fs"
    assert "parallel_count=5" in bucket.facts()["s3fs_options"]
    bucket.unmount()
    assert list((tmp_path / "scratch").iterdir()) == []
    assert list((tmp_path / "processes").iterdir()) == list((tmp_path / "mounts").iterdir()) == []


@pytest.mark.parametrize("which", [0, -1], ids=["minio", "s3fs"])
def test_a_program_that_dies_is_told_with_its_last_words_and_leaves_nothing_mounted(bucket, which, tmp_path):
    bucket.check()
    os.kill(bucket.processes()[which], signal.SIGKILL)
    while _alive(bucket):
        time.sleep(0.01)
    with pytest.raises(TrialFailed, match=r"(MinIO|s3fs) was ended by SIGKILL"):
        bucket.check()
    bucket.unmount()
    assert list((tmp_path / "scratch").iterdir()) == []


def _alive(bucket):
    try:
        bucket.check()
    except TrialFailed:
        return False
    return True


@pytest.fixture
def owner(monkeypatch):
    """Return a process that owns what the harness starts and records, which the test may end."""
    with subprocess.Popen(["sleep", "infinity"]) as process:
        boot, _, ticks = identity(process.pid).rpartition(":")
        mark = f"{boot}/{process_space()}/{process.pid}/{ticks}/0"
        monkeypatch.setattr(strays, "mark", lambda: mark)
        monkeypatch.setattr(leftovers, "write_record", partial(_record_of, process.pid))
        monkeypatch.setattr(mounting, "write_record", partial(_record_of, process.pid))
        yield process
        process.kill()


def _record_of(owner, file, content, write=leftovers.write_record):
    write(file, content)
    record = json.loads(file.read_text())
    file.write_text(json.dumps({**record, "owner_pid": owner, "owner_started": identity(owner)}))


def test_a_killed_harness_leaves_nothing(owner, bucket, tmp_path):
    assert leftovers.sweep(tmp_path / "processes") == []  # the harness lives
    owner.kill()
    owner.wait()
    assert {one.name for one in leftovers.sweep(tmp_path / "processes")} == {"MinIO", "s3fs"}
    mounting.sweep_mounts(tmp_path / "mounts")
    assert list((tmp_path / "scratch").iterdir()) == []
