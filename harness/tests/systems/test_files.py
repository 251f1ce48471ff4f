"""Plain files in the worker; test_embedded_driver.py has what it shares with SQLite."""

from dataclasses import replace

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems.driver import TableCount
from benchbook.systems.files import driver
from benchbook.workers import files_engine


@pytest.fixture
def started(embedded):
    return lambda **settings: embedded(driver, "files", "0.1", settings)


def test_the_worker_is_python_although_the_program_is_benchload(place):
    made = place("files", script="echo no Python >&2; exit 2")
    one = driver(replace(made, program=replace(made.program, source="own")))
    one.configure()
    one.start()
    try:
        assert one.ready()
    finally:
        one.stop()


def test_objects_are_files_of_the_data_folder(started, tmp_path):
    one = started(sync="data")
    assert one.ready()
    one.prepare()
    assert one.version() == "0.1"
    folder = tmp_path / "data" / "benchbook.files"
    assert len(list(folder.iterdir())) == 256
    (folder / "0a" / "o").write_bytes(b"x" * 9000)
    one.settle()
    assert one.count() == {"objects": TableCount(1)}
    assert one.size()["data"] >= 9000
    with pytest.raises(TrialFailed, match="already holds the tables objects"):
        one.prepare()


@pytest.mark.parametrize("settings", [{"sync": "folder"}, {"block": 4096}])
def test_an_unknown_setting_is_refused(started, settings):
    with pytest.raises(TrialFailed, match="files have only the setting sync, one of none, data"):
        started(**settings).ready()


def test_calls_for_tables_are_refused_in_words(tmp_path):
    with pytest.raises(AttributeError, match=r"files store objects only, .* use the workload blob"):
        files_engine.open_database(tmp_path, {}).query(None)
