"""Engines that are servers, against doubles of their drivers: statements and parsed answers."""

from __future__ import annotations

import sys
from datetime import datetime
from types import ModuleType
from typing import Any, Self

import pyarrow as pa
import pytest
from pyarrow import parquet

from benchbook.declare import plugin
from benchbook.workers.engine import Count, FailedError, Specification, open_engine

bars = plugin.module("kline-mysql-vs-kv", "bars")
dolphindb_engine = plugin.module("kline-mysql-vs-kv", "dolphindb_engine")

FIRST = 1578303060
COLUMNS = ("time", "stock_name", "open", "close", "high", "low", "volume", "amount", "turn")
SCHEMA = pa.schema(
    [
        ("time", pa.timestamp("ns", "UTC")),
        ("stock_name", pa.string()),
        *((n, pa.int64()) for n in COLUMNS[2:]),
    ]
)
BATCH = pa.record_batch(
    [[FIRST * 10**9, (FIRST + 60) * 10**9], ["7", "7"], *([n, n + 1] for n in range(7))], schema=SCHEMA
)
REQUEST = bars.Request(0, "long", 7, FIRST, FIRST + 60, 2, "")
QUERY = Specification(0, "max", "cpu", "x", "max", 1, (), 0, 1, False)


class Server:
    """A double of a driver that records statements and answers by their beginning."""

    def __init__(self, answers: dict[str, list[tuple[Any, ...]]]) -> None:
        self.answers, self.sent, self.opened, self.closed = answers, [], [], 0
        self.version, self.commits = "23.6.0.24.10", 0

    def connect(self, *places: Any, **options: Any) -> Server:
        self.opened.append((*places, *sorted(options.items())))
        return self

    def cursor(self) -> Cursor:
        return Cursor(self)

    def commit(self) -> None:
        self.commits += 1

    def close(self) -> None:
        self.closed += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Cursor:
    def __init__(self, server: Server) -> None:
        self.server, self.answer = server, []

    def execute(self, statement: str, values: Any = None) -> None:
        self.server.sent.append((statement, values))
        self.answer = next(
            (rows for begin, rows in self.server.answers.items() if statement.startswith(begin)), []
        )

    def executemany(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        self.server.sent.append((statement, rows))

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self.answer

    def fetchone(self) -> tuple[Any, ...]:
        return self.answer[0]

    def close(self) -> None:
        pass


def module(monkeypatch: pytest.MonkeyPatch, name: str, **content: Any) -> None:
    made = ModuleType(name)
    made.__dict__.update(content)
    monkeypatch.setitem(sys.modules, name, made)


@pytest.fixture
def spark(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server(
        {
            "SELECT version()": [("3.5.7 ed00d046",)],
            "SHOW TABLES": [("default", "finance", False)],
            "SELECT count(*)": [(2, *[2] * 7)],
            "SELECT unix_seconds": [(FIRST, "7", 0, 1, 2, 3, 4, 5, 6)],
        }
    )
    module(monkeypatch, "impala")
    module(monkeypatch, "impala.dbapi", connect=server.connect)
    return server


def test_spark_takes_in_a_batch_as_a_file_and_the_file_is_gone(spark, tmp_path):
    engine = open_engine("spark", "hive2://127.0.0.1:1234", {"folder": str(tmp_path)})
    assert dict(spark.opened[0])["port"] == 1234
    engine.create("finance", SCHEMA)
    file = engine.convert(BATCH)
    assert parquet.read_schema(file).field("time").type == pa.timestamp("us", "UTC")
    engine.insert("finance", file)
    assert [text.split()[0] for text, _ in spark.sent] == ["CREATE", "INSERT"]
    assert f"FROM parquet.`{file}`" in spark.sent[1][0]
    assert list(tmp_path.iterdir()) == []


def test_spark_is_asked_with_whole_numbers_over_a_connection_of_its_own(spark, tmp_path):
    engine = open_engine("spark", "hive2://h:1", {"folder": str(tmp_path)})
    (bar,) = engine.bar_reader()(REQUEST)
    statement, values = spark.sent[-1]
    assert "`stock_name` = '7' AND `time` BETWEEN timestamp_seconds(1578303060)" in statement
    assert values is None
    assert len(bars.packed(bar)) == bars.BAR_BYTES
    assert len(spark.opened) == 2
    engine.close()
    assert spark.closed == 2


def test_spark_is_counted_and_states_its_version(spark, tmp_path):
    engine = open_engine("spark", "hive2://h:1", {"folder": str(tmp_path)})
    assert engine.version() == "3.5.7"
    assert engine.count() == {"finance": Count(2, dict.fromkeys(COLUMNS[2:], 2))}
    with pytest.raises(FailedError, match="with Spark SQL, Benchbook supports only the workload kline"):
        engine.query(QUERY)


@pytest.fixture
def oracle(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server(
        {
            "SELECT count(*) FROM all_users": [(0,)],
            "SELECT table_name": [("finance",)],
            "SELECT count(*)": [(2, *[2] * 7)],
            "SELECT ROUND": [(FIRST, 7, 0, 1, 2, 3, 4, 5, 6)],
        }
    )
    module(monkeypatch, "oracledb", connect=server.connect)
    return server


def test_oracle_makes_its_account_where_the_harness_started_the_server(oracle):
    engine = open_engine("oracle", "oracle://benchbook@h:1521/FREEPDB1", {"make": True, "password": "secret"})
    assert [dict(one)["user"] for one in oracle.opened] == ["system", "benchbook"]
    assert {dict(one)["dsn"] for one in oracle.opened} == {"h:1521/FREEPDB1"}
    assert [text.split()[0] for text, _ in oracle.sent] == ["SELECT", "CREATE", "GRANT"]
    assert engine.version() == "23.6.0.24.10"


def test_oracle_takes_a_batch_in_one_round_trip_and_commits_it(oracle, monkeypatch):
    monkeypatch.setenv("BENCHBOOK_ORACLE_PASSWORD", "given")
    engine = open_engine("oracle", "oracle://me@h:1521/X", {})
    assert [dict(one)["password"] for one in oracle.opened] == ["given"]
    engine.create("finance", SCHEMA)
    engine.insert("finance", engine.convert(BATCH))
    statement, rows = oracle.sent[-1]
    assert statement.startswith('INSERT INTO "finance" ("time", "stock_name", "open"')
    assert rows[0] == (datetime(2020, 1, 6, 9, 31), 7, 0, 1, 2, 3, 4, 5, 6)  # noqa: DTZ001 - a DATE has no zone
    assert oracle.commits == 1


def test_oracle_binds_what_it_is_asked_for(oracle):
    engine = open_engine("oracle", "oracle://me@h:1521/X", {"password": "p"})
    (bar,) = engine.bar_reader()(REQUEST)
    assert oracle.sent[-1][1] == {"stock": 7, "first": FIRST, "last": FIRST + 60}
    assert bars.digest([bar]) == bars.digest([(FIRST, "7", 0, 1, 2, 3, 4, 5, 6)])
    assert engine.count()["finance"].rows == 2
    engine.settle()
    assert oracle.sent[-1][0] == "ALTER SYSTEM CHECKPOINT"


class Frame:
    """A double of a data frame."""

    def __init__(self, *rows: tuple[Any, ...]) -> None:
        self.rows = rows

    def itertuples(self, *, index: bool, name: str | None) -> Any:
        assert not index
        assert name is None
        return iter(self.rows)


class Session:
    """A double of a session of DolphinDB."""

    takes = True
    sent: list[tuple[Any, ...]] = []  # noqa: RUF012 - emptied by the fixture

    def connect(self, host: str, port: int, user: str, password: str) -> bool:
        self.sent.append(("connect", host, port, user, password))
        return self.takes

    def run(self, script: str, *values: Any) -> Any:
        self.sent.append((script, *values))
        answers = {
            "version": "2.00.12 2024.03.12", "existsDatabase": True, "getTables": ["finance"],
            "select count": Frame((2, *[2] * 7)), "select long": Frame((FIRST, 7, 0, 1, 2, 3, 4, 5, 6)),
        }  # fmt: skip
        return next((answer for begin, answer in answers.items() if script.startswith(begin)), None)

    def close(self) -> None:
        self.sent.append(("close",))


@pytest.fixture
def dolphin(monkeypatch: pytest.MonkeyPatch) -> type[Session]:
    Session.sent.clear()
    module(monkeypatch, "dolphindb", session=Session)
    return Session


def test_dolphindb_is_asked_by_scripts_and_its_frames_are_bars(dolphin):
    engine = open_engine("dolphindb", "dolphindb://h:8848", {})
    assert dolphin.sent[0] == ("connect", "h", 8848, "admin", "123456")
    assert engine.version() == "2.00.12"
    assert engine.tables() == ["finance"]
    assert engine.count() == {"finance": Count(2, dict.fromkeys(COLUMNS[2:], 2))}
    (bar,) = engine.bar_reader()(REQUEST)
    assert "where stock_name = 7, time between nanotimestamp(1578303060000000000) :" in dolphin.sent[-1][0]
    assert bars.digest([bar]) == bars.digest([(FIRST, "7", 0, 1, 2, 3, 4, 5, 6)])
    engine.close()
    assert dolphin.sent[-2:] == [("close",), ("close",)]


def test_dolphindb_takes_a_batch_in_its_tables_types(dolphin):
    engine = open_engine("dolphindb", "dolphindb://h:8848", {})
    engine.create("finance", SCHEMA)
    assert "`time`stock_name`open`close`high`low`volume`amount`turn" in dolphin.sent[-1][0]
    typed = dolphindb_engine.typed(BATCH)
    assert typed.schema.names == list(COLUMNS)
    assert typed.schema.types[:2] == [pa.timestamp("ns"), pa.int32()]
    engine.insert("finance", "frame")
    assert dolphin.sent[-1] == ("tableInsert{loadTable('dfs://benchbook', 'finance')}", "frame")


def test_a_session_that_is_refused_is_told(dolphin, monkeypatch):
    monkeypatch.setattr(dolphin, "takes", False)
    with pytest.raises(ConnectionError, match="refuses a session for me"):
        open_engine("dolphindb", "dolphindb://me@h:8848", {})


def test_a_missing_folder_for_batches_is_told(spark):
    with pytest.raises(ValueError, match='"folder" is missing'):
        open_engine("spark", "hive2://h:1", {})
