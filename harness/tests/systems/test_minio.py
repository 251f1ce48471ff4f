"""MinIO as a system, with buckets in memory; tests/live/test_minio.py has the real one."""

import pytest

from benchbook.errors import TrialFailed
from benchbook.storage.s3 import S3
from benchbook.systems.driver import TableCount
from benchbook.systems.minio import driver


@pytest.fixture
def buckets(monkeypatch):
    """Keep buckets as lists of sizes."""
    held = {}
    monkeypatch.setattr(S3, "buckets", lambda self, timeout_seconds=0: list(held))
    monkeypatch.setattr(S3, "make_bucket", lambda self, name: held.update({name: []}))
    monkeypatch.setattr(S3, "remove_bucket", lambda self, name: held[name] or held.pop(name))
    monkeypatch.setattr(S3, "object_sizes", lambda self, name: held[name])
    return held


@pytest.fixture
def external(place, web, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ada")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a long secret")
    return driver(place("minio", url=web.url, databases=("benchbook", "benchbook_2")))


def test_the_environment_has_the_keys_and_the_arm_and_the_file_has_the_arm_alone(place, tmp_path):
    one = driver(place("minio", settings={"MINIO_COMPRESSION_ENABLE": "on"}))
    assert one.configure() == {"minio.env": "# minio server {drive}\nMINIO_COMPRESSION_ENABLE=on\n"}
    environment = one.environment()
    assert environment["MINIO_COMPRESSION_ENABLE"] == "on"
    assert environment["MINIO_ROOT_PASSWORD"] == one.s3.secret_key
    assert environment["MINIO_UPDATE"] == "off"
    assert one.s3.secret_key not in str(one.command())
    assert one.command()[-1] == tmp_path / "data" / "drive"
    assert one.command()[one.command().index("--address") + 1] == one.url.removeprefix("http://")


def test_the_keys_of_an_external_server_are_in_the_environment_of_clients(external):
    assert external.client_environment() == {
        "AWS_ACCESS_KEY_ID": "ada",
        "AWS_SECRET_ACCESS_KEY": "a long secret",
    }


def test_databases_are_buckets_that_are_made_and_removed(external, buckets):
    buckets["benchbook"] = []
    external.prepare()
    assert list(buckets) == ["benchbook", "benchbook-2"]
    external.stop()
    assert list(buckets) == ["benchbook"]


def test_a_bucket_with_objects_is_refused_and_stays(external, buckets):
    buckets["benchbook-2"] = [7]
    with pytest.raises(TrialFailed, match='the database "benchbook_2" contains objects'):
        external.prepare()
    external.stop()
    assert buckets["benchbook-2"] == [7]


def test_objects_are_counted_with_their_bytes(external, buckets):
    buckets |= {"benchbook": [10, 20], "benchbook-2": []}
    assert external.count() == {"objects": TableCount(2, {"bytes": 30})}
    assert external.count_in("benchbook_2") == {"objects": TableCount(0, {"bytes": 0})}


def test_the_version_is_among_its_metrics(external, web):
    with pytest.raises(TrialFailed, match="does not report its version"):
        external.version()
    web.answers["GET /minio/v2/metrics/node"] = 'minio_software_version_info{version="2026-02-12"} 1\n'
    assert external.version() == "2026-02-12"


def test_buckets_and_its_own_files_are_measured_apart(place, tmp_path):
    one = driver(place("minio"))
    for name, size in (("benchbook/o", 9000), (".minio.sys/config", 5000)):
        file = tmp_path / "data" / "drive" / name
        file.parent.mkdir(parents=True)
        file.write_bytes(b"x" * size)
    size = one.size()
    assert size["data"] >= 9000 > size["meta"] >= 5000
