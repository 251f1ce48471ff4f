"""The null server as a system: started, counted, stopped, with the real benchload if it is built."""

import time
import urllib.request

import pytest

from benchbook.declare.catalogue import Catalogue
from benchbook.errors import Unavailable
from benchbook.process import spawn
from benchbook.provision.find import find
from benchbook.provision.request import Request
from benchbook.systems import null_server
from benchbook.systems.driver import Place


@pytest.fixture
def declared():
    from pathlib import Path

    return Catalogue(Path(__file__).resolve().parents[3]).system("null-server")


def test_without_the_load_tool_it_cannot_be_had(declared):
    with pytest.raises(Unavailable, match="benchload is not built"):
        find(declared, Request(environment={"PATH": ""}))


def test_it_counts_what_it_is_sent(declared, tmp_path):
    try:
        binary = spawn.find_benchload()
    except Unavailable:
        pytest.skip("benchload is not built")
    program = find(declared, Request(environment={"PATH": "", "BENCHBOOK_BENCHLOAD": str(binary)}))
    assert program.source == "own"
    driver = null_server.driver(
        Place(program=program, arm="vanilla", settings={}, data=tmp_path, config=tmp_path, logs=tmp_path)
    )
    driver.configure()
    driver.start()
    try:
        deadline = time.monotonic() + 20
        while not driver.ready():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert declared.accepts(driver.version())
        assert driver.received() == 0
        urllib.request.urlopen(f"{driver.url}/write?db=x", b"a x=1 1\nb x=1 1\n").close()
        assert driver.received() == 2
        assert driver.processes()
    finally:
        driver.stop()
    assert not driver.processes()
    assert not driver.ready()
