"""Programs without a server."""

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems.tool import driver


@pytest.mark.parametrize(
    ("script", "version"),
    [("echo fio-3.33", "3.33"), ("echo 'V1.90 (commit:x)' >&2", "1.90"), ("exit 1", "unknown")],
)
def test_the_version_is_the_first_number_that_it_prints(place, script, version):
    assert driver(place("fio", script=script)).version() == version


def test_there_is_nothing_to_configure_start_or_stop(place, tmp_path):
    one = driver(place("fio"))
    assert one.configure() == {}
    one.start()
    assert one.ready()
    one.prepare()
    one.settle()
    assert (one.count(), one.processes()) == ({}, [])
    (tmp_path / "data" / "file").write_bytes(b"x" * 9000)
    assert one.size()["data"] >= 9000
    one.stop()


def test_a_url_is_refused(place):
    with pytest.raises(TrialFailed, match=r"fio is a program, not a server.*--system fio=PATH"):
        driver(place("fio", url="http://db")).start()


def test_its_client_takes_no_rows_and_no_queries(place, tmp_path):
    client = driver(place("fio")).client(tmp_path)
    with pytest.raises(TrialFailed, match="fio stores no rows"):
        client.load(None)
    with pytest.raises(TrialFailed, match="fio answers no queries"):
        client.query(None)
    assert client.processes() == []
    client.cancel()
