"""QuestDB: its configuration, its command, and its answers."""

import pytest

from benchbook.errors import TrialFailed
from benchbook.systems import questdb
from benchbook.systems.driver import TableCount
from benchbook.systems.questdb import driver


def rows(*found):
    return {"dataset": [list(row) for row in found]}


@pytest.fixture
def external(place, web):
    return driver(place("questdb-9.3.4", "9.3.4", url=web.url))


def test_the_configuration_is_where_the_server_reads_it(place, tmp_path):
    one = driver(place("questdb", settings={"cairo.idle.check.interval": "900"}))
    shown = one.configure()["server.conf"]
    written = (tmp_path / "data" / "conf" / "server.conf").read_text().splitlines()
    assert "http.bind.to={http}" in shown
    assert "cairo.idle.check.interval=900" in written
    assert "telemetry.enabled=false" in written
    assert f"http.bind.to={one.url.removeprefix('http://')}" in written
    assert sum(".bind.to=127.0.0.1:" in line for line in written) == 4


def test_the_command_runs_the_jar_on_the_data_folder(place, tmp_path, monkeypatch):
    monkeypatch.setattr("benchbook.systems.java.program", lambda: "java")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "questdb-9.3.4.jar").touch()
    command = list(map(str, driver(place("questdb")).command()))
    assert command[0] == "java"
    assert command[command.index("-cp") + 1] == f"{tmp_path}/lib/questdb-9.3.4.jar"
    assert command[-2:] == ["-d", f"{tmp_path}/data"]


def test_the_version_is_in_what_its_build_states(external, web):
    web.answers["SELECT build()"] = rows(["Build Information: QuestDB 9.3.4, JDK 17"])
    assert external.version() == "9.3.4"
    web.answers["SELECT build()"] = rows(["a fork"])
    assert external.version() == "unknown"


def test_tables_of_the_server_are_neither_refused_nor_counted(external, web):
    web.answers["SELECT table_name FROM tables()"] = rows(["telemetry_config"], ["sys.text_import_log"])
    external.prepare()
    assert external.count() == {}
    web.answers["SELECT table_name FROM tables()"] = rows(["sys.x"], ["cpu"])
    with pytest.raises(TrialFailed, match="already holds data: cpu"):
        external.prepare()


def test_number_columns_are_counted(external, web):
    web.answers = {
        "SELECT table_name FROM tables()": rows(["cpu"]),
        "SELECT \"column\", type FROM table_columns('cpu')": rows(
            ["timestamp", "TIMESTAMP"], ["host", "SYMBOL"], ["user", "DOUBLE"], ["used", "LONG"]
        ),
        'SELECT count(*), count("user"), count("used") FROM "cpu"': rows([12, 12, 7]),
    }
    assert external.count() == {"cpu": TableCount(12, {"user": 12, "used": 7})}


def test_settling_waits_for_logs_and_then_for_files(place, web, tmp_path, monkeypatch):
    monkeypatch.setattr(questdb, "REST_SECONDS", 0.3)
    one = driver(place("questdb"))
    one.configure()
    monkeypatch.setattr(one, "url", web.url)
    pending = iter([rows([3], [0]), rows([0], [0])])
    web.answers["SELECT sequencerTxn"] = lambda _: next(pending)
    one.settle()
    assert next(pending, None) is None
    assert one.watched_seconds == 0.3


def test_data_and_logs_are_measured_apart(place, tmp_path):
    one = driver(place("questdb"))
    for path, size in (("db/cpu/user.d", 9000), ("db/cpu/wal1/0", 5000)):
        file = tmp_path / "data" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * size)
    size = one.size()
    assert size["data"] >= 9000 > size["wal"] >= 5000
