"""MySQL: its options, the initialisation of its data folder, and its answers, with a scripted connection."""

import os
import re

import pymysql
import pytest

from benchbook.errors import TrialFailed
from benchbook.process.ordinary_user import OrdinaryUser
from benchbook.systems.driver import TableCount
from benchbook.systems.mysql import driver

INITIALISE = """
case "$*" in
  *--initialize-insecure*) [ -e "$(dirname "$0")/broken" ] && echo "[Note] x" && echo "[ERROR] no space left" && exit 1
     echo "$@" > "$(dirname "$0")/initialised" ;;
esac
"""


class Connection:
    """Answers statements by their beginning; a number is an error of that code."""

    def __init__(self, answers):
        self.answers, self.asked, self.open = answers, [], True

    def ping(self, reconnect):
        assert not reconnect

    def cursor(self):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def execute(self, statement):
        self.asked.append(statement)
        found = next((rows for begin, rows in self.answers.items() if statement.startswith(begin)), [])
        self.rows = next(found) if hasattr(found, "__next__") else found
        if isinstance(self.rows, int):
            raise pymysql.err.ProgrammingError(self.rows, "You have an error")

    def fetchall(self):
        return self.rows

    def close(self):
        self.open = False


@pytest.fixture
def opened(monkeypatch):
    """Return the connection that every connect returns, with its recorded arguments."""
    connection = Connection({})
    connection.options = {}

    def connect(**options):
        connection.options = options
        return connection

    monkeypatch.setattr(pymysql, "connect", connect)
    return connection


@pytest.fixture
def external(place, opened):
    return driver(place("mysql-8", "8", url="mysql://db:3307", databases=("benchbook", "benchbook_2")))


@pytest.fixture
def local(place, monkeypatch):
    def make(setpriv=None, **settings):
        monkeypatch.setattr(
            "benchbook.systems.mysql.ordinary_user",
            lambda name: OrdinaryUser(name, os.getuid(), os.getgid(), setpriv),
        )
        return driver(place("mysqld", script=INITIALISE, settings=settings))

    return make


def test_the_options_are_sorted_and_the_arm_has_the_last_word(local, tmp_path):
    one = local(innodb_buffer_pool_size="24G", skip_log_bin=True, mysqlx=1)
    shown = one.configure()["my.cnf"].splitlines()
    assert shown == [
        "[mysqld]", "bind-address = 127.0.0.1", "datadir = {data}", "innodb_buffer_pool_size = 24G", "mysqlx = 1",
        "pid-file = {data}/server.pid", "port = {port}", "secure-file-priv = ", "skip_log_bin = 1",
        "socket = {data}/server.sock",
    ]  # fmt: skip
    assert f"port = {one.url.rpartition(':')[2]}\n" in (tmp_path / "config" / "my.cnf").read_text()


def test_root_has_the_server_change_its_user(local):
    assert "user = mysql\n" in local("/usr/bin/setpriv").configure()["my.cnf"]
    assert "user" not in local().configure()["my.cnf"]


def test_the_data_folder_is_made_before_the_first_start(local, tmp_path):
    local().configure()
    assert (tmp_path / "bin" / "initialised").read_text().split() == [
        f"--defaults-file={tmp_path}/config/my.cnf", "--initialize-insecure",
    ]  # fmt: skip
    (tmp_path / "bin" / "broken").touch()
    with pytest.raises(
        TrialFailed, match=r"mysqld could not initialise its data folder: \[ERROR\] no space left\. "
    ) as caught:
        local().configure()
    assert str(tmp_path / "logs" / "initialise.log") in caught.value.hint


def test_what_the_harness_sets_is_refused(local):
    with pytest.raises(TrialFailed, match='sets "datadir"'):
        local(datadir="/x").configure()


def test_the_version_has_no_suffix(external, opened):
    opened.answers["SELECT VERSION()"] = [("8.0.36-0ubuntu0.22.04.1",)]
    assert external.version() == "8.0.36"
    assert (opened.options["host"], opened.options["port"], opened.options["user"]) == ("db", 3307, "root")


def test_databases_are_made_and_dropped(external, opened):
    opened.answers["SHOW DATABASES"] = [("mysql",), ("benchbook_2",)]
    external.prepare()
    external.stop()
    assert [one for one in opened.asked if "DATABASE `" in one] == [
        "CREATE DATABASE `benchbook`", "DROP DATABASE `benchbook`",
    ]  # fmt: skip
    assert not opened.open


def test_a_database_with_tables_is_refused(external, opened):
    opened.answers = {"SHOW DATABASES": [("benchbook",)], "SHOW TABLES FROM `benchbook`": [("cpu",)]}
    with pytest.raises(TrialFailed, match='the database "benchbook" contains cpu') as caught:
        external.prepare()
    assert 'mysql -e "DROP DATABASE benchbook"' in caught.value.hint


def test_columns_outside_the_primary_key_are_counted(external, opened):
    opened.answers = {
        "SHOW TABLES FROM `benchbook`": [("cpu",), ("empty",)],
        "SELECT table_name, column_name, column_key": [
            ("cpu", "time", "PRI"),
            ("cpu", "user", ""),
            ("cpu", "idle", "MUL"),
        ],
        "SELECT count(*), count(`user`), count(`idle`) FROM `benchbook`.`cpu`": [(12, 12, 7)],
        "SELECT count(*) FROM `benchbook`.`empty`": [(0,)],
    }
    assert external.count() == {"cpu": TableCount(12, {"user": 12, "idle": 7}), "empty": TableCount(0, {})}


def test_settling_writes_every_changed_page_and_restores_the_limits(external, opened):
    left = iter([[("x", "40")], [("x", "0")]])
    opened.answers = {
        "SELECT @@GLOBAL.innodb_max_dirty_pages_pct_lwm": [(10,)],
        "SELECT @@GLOBAL.innodb_max_dirty_pages_pct": [(90,)],
        "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'": left,
    }
    external.settle()
    assert [one for one in opened.asked if one.startswith("SET")] == [
        "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0", "SET GLOBAL innodb_max_dirty_pages_pct = 0",
        "SET GLOBAL innodb_max_dirty_pages_pct = 90", "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 10",
    ]  # fmt: skip
    assert next(left, None) is None


def test_the_size_of_an_external_server_is_that_of_the_trials_databases(external, opened):
    opened.answers["SELECT COALESCE"] = [(4096,)]
    assert external.size() == {"data": 4096}
    assert "('benchbook', 'benchbook_2')" in re.sub(r"\s+", " ", opened.asked[-1])


def test_data_redo_log_and_the_rest_are_measured_apart(local, tmp_path):
    one = local()
    for name, size in (("benchbook/cpu.ibd", 20_000), ("#innodb_redo/1", 9000), ("mysql.ibd", 4096)):
        (tmp_path / "data" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "data" / name).write_bytes(b"x" * size)
    size = one.size()
    assert size["data"] >= 20_000 > size["wal"] >= 9000 > size["system"] >= 4096


def test_a_refused_statement_is_told(external, opened):
    opened.answers["SELECT nonsense"] = 1064
    with pytest.raises(
        TrialFailed, match=r"mysql-8 at mysql://db:3307 refuses 'SELECT nonsense': .*You have an error"
    ):
        external.sql("SELECT nonsense")


def test_it_is_ready_when_it_takes_a_connection(external, opened, monkeypatch):
    assert external.ready()

    def refuse(**_):
        raise pymysql.err.OperationalError(2003, "Can't connect")

    gone = driver(external.place)
    monkeypatch.setattr(pymysql, "connect", refuse)
    assert not gone.ready()
