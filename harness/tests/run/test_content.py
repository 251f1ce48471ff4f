"""Datasets from a file: fetched, counted and kept in Arrow; what changed is refused."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from benchbook.declare.dataset import Dataset
from benchbook.errors import RequestError, TrialInvalid
from benchbook.run import content
from benchbook.workers.stream import stored

SELECT = """
SELECT i AS "Id", CASE WHEN i % 2 = 0 THEN i / 4 END AS fare, 'n' || i AS name, i % 3 = 0 AS shared,
       DATE '2024-01-01' + i::INT AS day, TIMESTAMP '2024-01-01 00:00:00' + INTERVAL (i) SECOND AS at
FROM range(10) t(i)
"""


def dataset(file: str, **more: Any) -> Dataset:
    stated = {"name": "trips", "title": "Trips", "description": "Trips.", "source": {"file": file}, **more}
    return Dataset.model_validate(stated)


@pytest.mark.parametrize("file", ["t.parquet", "t.csv", "t.ndjson"])
def test_rows_and_values_of_each_format_are_the_same(tmp_path: Path, file: str) -> None:
    form = "(FORMAT json)" if file.endswith("ndjson") else ""
    duckdb.execute(f"COPY ({SELECT}) TO '{tmp_path / file}' {form}")
    found = content.write_rows(dataset(file), tmp_path, tmp_path / "rows.arrow")
    assert found["tables"] == {
        "trips": {"rows": 10, "fields": {"id": 10, "fare": 5, "name": 10, "shared": 10, "day": 10, "at": 10}}
    }
    assert found["values"] == 55
    assert found["sha256"] == hashlib.sha256((tmp_path / file).read_bytes()).hexdigest()
    parts = list(stored(str(tmp_path / "rows.arrow"), 4))
    assert [(table, part.num_rows) for table, part in parts] == [("trips", 4), ("trips", 4), ("trips", 2)]
    assert [str(one.type) for one in parts[0][1].schema] == [
        "int64", "double", "string", "bool", "date32[day]", "timestamp[s]",
    ]  # fmt: skip


def test_a_declared_type_replaces_that_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("code,fare\n007,1.50\n042,\n")
    declared = dataset("t.csv", columns={"code": "text", "fare": "float"})
    found = content.write_rows(declared, tmp_path, tmp_path / "rows.arrow")
    [(_, part)] = stored(str(tmp_path / "rows.arrow"), 10)
    assert part.to_pydict() == {"code": ["007", "042"], "fare": [1.5, None]}
    assert found["tables"]["trips"]["fields"] == {"code": 2, "fare": 1}


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("SELECT 'NaN'::DOUBLE AS fare", "1 value that is not exactly a finite float .* such as 'nan'"),
        ("SELECT 1 AS a WHERE false", "has no rows"),
    ],
)
def test_rows_that_no_system_could_compare_are_refused(tmp_path: Path, select: str, message: str) -> None:
    duckdb.execute(f"COPY ({select}) TO '{tmp_path / 't.parquet'}'")
    with pytest.raises(RequestError, match=message):
        content.write_rows(dataset("t.parquet"), tmp_path, tmp_path / "rows.arrow")
    assert not (tmp_path / "rows.arrow").exists()


def test_a_file_that_changes_after_the_plan_makes_the_trial_invalid(tmp_path: Path) -> None:
    duckdb.execute(f"COPY ({SELECT}) TO '{tmp_path / 't.parquet'}'")
    pinned = dataset("t.parquet").pinned(tmp_path / "trips.toml")
    catalogue: Any = SimpleNamespace(path=lambda *_: tmp_path / "trips.toml")
    content.prepared(catalogue, pinned, tmp_path, str)
    assert content.require_same(catalogue, pinned).exists()
    (tmp_path / "t.parquet").write_bytes(b"other")
    with pytest.raises(TrialInvalid, match="changed during the run"):
        content.require_same(catalogue, pinned)
    with pytest.raises(RequestError, match=r"datasets/trips.toml: .* changed since the plan"):
        content.prepared(catalogue, pinned, tmp_path, str)


def test_a_folder_for_commands_has_a_size_and_no_rows(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a").write_text("abc")
    stated = {
        "name": "trips",
        "title": "T",
        "description": "T.",
        "source": {"file": "corpus", "format": "folder"},
    }
    pinned = Dataset.model_validate(stated).pinned(tmp_path / "trips.toml")
    catalogue: Any = SimpleNamespace(path=lambda *_: tmp_path / "trips.toml")
    found = content.prepared(catalogue, pinned, tmp_path, str)
    assert (found["bytes"], found["rows"], found["tables"]) == (3, 0, {})
    assert content.require_same(catalogue, pinned) == tmp_path / "corpus"
    with pytest.raises(RequestError, match="corpus contains the folder of results"):
        content.prepared(catalogue, pinned, tmp_path / "corpus" / "results", str)
    (tmp_path / "corpus" / "b").write_text("")
    with pytest.raises(TrialInvalid, match="changed during the run"):
        content.require_same(catalogue, pinned)


BODY = b"a,b\n" + b"1,2\n" * 5000


class Server(BaseHTTPRequestHandler):
    """Serves BODY, also in part; ends the first answer after 100 bytes."""

    asked: list[str]

    def do_GET(self) -> None:
        begin = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        self.asked.append(self.headers.get("Range") or "")
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(BODY) - begin))
        self.end_headers()
        self.wfile.write(BODY[begin : begin + 100] if len(self.asked) == 1 else BODY[begin:])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    Server.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/t.csv"
    server.shutdown()
    server.server_close()


def test_a_fetch_continues_where_it_ended(address: str, tmp_path: Path) -> None:
    file, digest = tmp_path / "t.csv", hashlib.sha256(BODY).hexdigest()
    with pytest.raises(RequestError, match="the next attempt continues there"):
        content.fetch(address, file, digest)
    content.fetch(address, file, digest)
    assert file.read_bytes() == BODY
    assert Server.asked == ["", "bytes=100-"]


def test_another_file_at_the_address_and_no_server_are_refused(address: str, tmp_path: Path) -> None:
    Server.asked.append("before")
    with pytest.raises(RequestError, match=r"the sha256 .* but sha256 is 0000"):
        content.fetch(address, tmp_path / "t.csv", "0" * 64)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RequestError, match=r"could not be fetched: .*refused"):
        content.fetch("http://127.0.0.1:9/t.csv", tmp_path / "t.csv", "0" * 64)
