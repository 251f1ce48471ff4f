"""Servers driven from Python, with a listening script as Spark and a module of two functions as its client."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchbook.declare import plugin
from benchbook.errors import TrialFailed
from benchbook.process.launch import Program
from benchbook.systems.driver import Place

driver = plugin.module("kline-mysql-vs-kv", "spark").Spark

SERVER = """#!/bin/sh
''''exec '{python}' "$0" "$@" # '''
import socket, sys
where = dict(part.split("=", 1) for part in sys.argv[1:] if "=" in part)
listening = socket.create_server((where["hive.server2.thrift.bind.host"], int(where["hive.server2.thrift.port"])))
while True:
    listening.accept()[0].close()
"""
CLIENT = """
import socket
ANSWERS = {"SELECT version()": [("3.5.7 ed00d0",)], "SHOW TABLES": FOUND, "SELECT count(*)": [(2, *[2] * 7)]}
class Connection:
    description = []
    def cursor(self):
        return self
    def execute(self, statement):
        self.answer = next((rows for begin, rows in ANSWERS.items() if statement.startswith(begin)), [])
    def fetchall(self):
        return self.answer
    def close(self):
        pass
def connect(host, port, **_):
    socket.create_connection((host, port)).close()
    return Connection()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    for name in ("data", "config", "logs", "bin", "client/impala"):
        (tmp_path / name).mkdir(parents=True)
    program = tmp_path / "bin" / "spark-submit"
    program.write_text(SERVER.format(python=sys.executable))
    program.chmod(0o755)
    client(tmp_path, "[]")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "client"))
    monkeypatch.setattr("benchbook.systems.java.program", lambda: sys.executable)
    found = Program("spark-sql-3.5.7", "3.5.7", "given", path=program)
    return Place(
        found, "vanilla", {"heap": "512m"}, tmp_path / "data", tmp_path / "config", tmp_path / "logs",
        processes=tmp_path / "processes",
    )  # fmt: skip


def client(folder: Path, tables: str) -> None:
    (folder / "client" / "impala" / "__init__.py").touch()
    (folder / "client" / "impala" / "dbapi.py").write_text(CLIENT.replace("FOUND", tables))


def wait(made) -> None:
    until = time.monotonic() + 60
    while not made.ready():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_server_is_started_asked_and_stopped(place):
    made = driver(place)
    assert "{data}" in made.configure()["spark-defaults.conf"]
    assert "spark.driver.memory 512m" in (place.config / "spark-defaults.conf").read_text()
    made.start()
    try:
        wait(made)
        assert made.version() == "3.5.7"
        made.prepare()
        made.settle()
        one = made.client(Path("benchload"))
        assert not one.shares_process
        assert one.program.endswith("impyla")
        assert not {*made.processes()} & {*one.processes()}
        assert made.processes()
        assert one.processes()
    finally:
        made.stop()
    assert made.processes() == []


def test_a_server_with_tables_is_refused(place, tmp_path):
    client(tmp_path, '[("default", "finance", False)]')
    made = driver(place)
    made.configure()
    made.start()
    try:
        wait(made)
        assert made.count()["finance"].rows == 2
        with pytest.raises(TrialFailed, match="already holds data: finance"):
            made.prepare()
    finally:
        made.stop()


def test_a_server_that_dies_says_its_last_words(place):
    place.program.path.write_text("#!/bin/sh\necho no memory >&2; exit 3\n")
    made = driver(place)
    made.configure()
    made.start()
    try:
        with pytest.raises(TrialFailed, match=r"exited with code 3.*no memory"):
            wait(made)
    finally:
        made.stop()


def test_a_server_that_goes_on_refusing_is_told_in_its_words(place, tmp_path, monkeypatch):
    client(tmp_path, "[] + no_such_name")
    made = driver(place)
    monkeypatch.setattr(type(made), "refusal_seconds", 0.0)
    made.configure()
    made.start()
    try:
        with pytest.raises(TrialFailed, match="no_such_name"):
            wait(made)
    finally:
        made.stop()


def test_a_server_elsewhere_is_not_started(place):
    elsewhere = replace(place, program=Program("spark-sql-3.5.7", "3.5.7", "given", url="hive2://h:10000"))
    made = driver(elsewhere)
    assert made.configure() == {}
    made.start()
    assert made.processes() == []
    assert made.size() == {}
