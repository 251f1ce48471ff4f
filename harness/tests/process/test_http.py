"""Requests to a server: content, retries and errors."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from benchbook.errors import TrialFailed
from benchbook.process import http
from benchbook.process.http import Http, parse_metrics


@pytest.fixture
def server(web):
    return Http("Storehouse", web.url, {"Accept": "application/json"})


def test_a_string_is_sent_as_text_and_a_value_as_json(server, web):
    web.answers = {"POST /sql": "done", "PUT /settings": {"ok": True}}
    assert server.text("/sql", "SELECT 1", params={"db": "x y"}) == "done"
    assert server.json("/settings", {"a": 1}, method="PUT") == {"ok": True}
    sql, settings = web.asked
    assert (sql.body, sql.parameters) == ("SELECT 1", {"db": "x y"})
    assert sql.headers["Content-Type"].startswith("text/plain")
    assert (settings.body, settings.headers["Content-Type"]) == ('{"a": 1}', "application/json")
    assert settings.headers["Accept"] == "application/json"


def test_a_probe_has_any_status_and_nothing_where_nothing_answers(server, web):
    web.answers = {"GET /ping": (204, ""), "GET /busy": (503, "later"), "GET /health": "OK"}
    assert server.probe("/ping").status_code == 204
    assert server.probe("/busy").status_code == 503
    assert server.answers("/health")
    assert not server.answers("/busy")
    assert not server.answers("/ping")
    assert Http("Nobody", "http://127.0.0.1:9").probe("/ping", 0.5) is None


@pytest.mark.parametrize(
    ("content", "explanation"),
    [
        ({"error_message": "no such table"}, "no such table"),
        ({"error": "parse error", "code": 2}, "parse error"),
        ({"message": "denied"}, "denied"),
        ("line one\n  line two", "line one line two"),
        ({"error": {"reason": "index_missing"}}, '{"error": {"reason": "index_missing"}}'),
    ],
)
def test_a_refusal_is_told_in_the_servers_own_sentence(server, web, content, explanation):
    web.answers = {"GET /x": (422, content)}
    with pytest.raises(TrialFailed) as caught:
        server.text("/x", what="SELECT 1")
    assert caught.value.message == f"Storehouse refuses SELECT 1 (status 422): {explanation}"


def test_a_half_of_a_surrogate_pair_is_text_that_can_be_encoded(server, web):
    web.answers = {"GET /x": r'{"error": "\ud800 bad", "\udfff": ["\ud83d\ude42 \\ud800"]}'}
    assert server.json("/x") == {"error": r"\ud800 bad", r"\udfff": [r"🙂 \ud800"]}


def test_text_that_is_not_json_is_told(server, web):
    web.answers = {"GET /x": "<html>"}
    with pytest.raises(TrialFailed, match="Storehouse answers /x with text that is not JSON: '<html>'"):
        server.json("/x")


def test_a_server_that_is_gone_is_told_with_its_address_and_the_reason():
    with pytest.raises(
        TrialFailed,
        match=r"Nobody at http://127.0.0.1:9 did not answer the request GET /x: Connection refused",
    ):
        Http("Nobody", "http://127.0.0.1:9").text("/x")


def test_a_request_that_the_server_may_have_seen_is_not_sent_again():
    """A server that closes the connection after it has read the statement, which it may have executed."""
    seen = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up():
            while True:
                try:
                    connection = listening.accept()[0]
                except OSError:
                    return
                seen.append(connection.recv(65536))
                connection.close()

        threading.Thread(target=hang_up, daemon=True).start()
        one = Http("Hasty", f"http://127.0.0.1:{listening.getsockname()[1]}")
        with pytest.raises(TrialFailed, match="did not answer the request POST /sql: "):
            one.text("/sql", "INSERT")
        assert len(seen) == 1


def test_a_connection_that_is_refused_is_tried_again(monkeypatch, web):
    """The second attempt reaches the server."""
    connect, attempts = socket.create_connection, []

    def refuse_once(*arguments, **options):
        attempts.append(arguments)
        if len(attempts) == 1:
            raise ConnectionRefusedError(111, "Connection refused")
        return connect(*arguments, **options)

    monkeypatch.setattr(socket, "create_connection", refuse_once)
    web.answers = {"POST /sql": "done"}
    assert Http("Late", web.url).text("/sql", "SELECT 1") == "done"
    assert (len(attempts), len(web.asked)) == (2, 1)


def test_what_explains_a_failure_is_raised_in_its_place(web):
    def died():
        raise TrialFailed("it was ended by SIGKILL")

    web.answers = {"GET /x": (500, "")}
    for url in (web.url, "http://127.0.0.1:9"):
        with pytest.raises(TrialFailed, match="SIGKILL"):
            Http("Dead", url, on_failure=died).text("/x")


def test_no_proxy_of_the_environment_is_used(server, web, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    web.answers = {"GET /x": "here"}
    assert server.text("/x") == "here"


def test_a_slow_answer_ends_at_its_timeout(server, web):
    web.answers = {"GET /x": lambda _: threading.Event().wait(2.0) or "late"}
    with pytest.raises(TrialFailed, match="did not answer the request GET /x: "):
        server.text("/x", timeout_seconds=0.1)


@pytest.fixture
def raw():
    """A server that answers each connection with what a function yields, until the test ends."""
    over, sent = threading.Event(), [0]
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve(parts):
            while True:
                try:
                    connection = listening.accept()[0]
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    for part in parts():
                        if over.is_set():
                            return
                        try:
                            connection.sendall(part)
                        except OSError:
                            break
                        sent[0] += len(part)

        def start(parts):
            threading.Thread(target=serve, args=(parts,), daemon=True).start()
            return Http("Hostile", f"http://127.0.0.1:{listening.getsockname()[1]}"), sent

        yield start
        over.set()


def dripping(begin):
    yield begin
    while True:
        time.sleep(0.02)
        yield b"1"


HEAD = b"HTTP/1.1 200 OK\r\n"
DRIPS = {
    "status line": b"HTTP/1.1 20",
    "header": HEAD + b"X: ",
    "body of a known length": HEAD + b"Content-Length: 1000000\r\n\r\n",
    "body until the connection ends": HEAD + b"\r\n",
    "chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n",
    "length of a chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n",
}


@pytest.mark.parametrize("begin", DRIPS.values(), ids=DRIPS)
def test_a_server_that_drips_is_left_at_the_limit_of_the_whole_request(raw, begin):
    """Each byte came within the limit of a read, so the request never ended."""
    server, _ = raw(lambda: dripping(begin))
    with pytest.raises(TrialFailed, match="the answer had begun, but did not end in time"):
        server.text("/x", timeout_seconds=0.3)
    assert server.probe("/x", 0.3) is None


def test_an_answer_that_has_begun_must_end_soon_however_long_its_request_may_take(raw, monkeypatch):
    monkeypatch.setattr(http, "BODY_SECONDS", 0.3)
    server, _ = raw(lambda: dripping(HEAD + b"\r\n"))
    with pytest.raises(TrialFailed, match="the answer had begun, but did not end in time"):
        server.text("/x")


@pytest.mark.parametrize("head", [b"", b"Content-Length: 9000000000\r\n", b"Transfer-Encoding: chunked\r\n"])
def test_an_endless_answer_is_refused_at_a_limit(raw, monkeypatch, head):
    monkeypatch.setattr(http, "MOST_BYTES", 1 << 20)

    def endless():
        yield HEAD + head + b"\r\n"
        while True:
            yield (
                (b"10000\r\n" if b"chunked" in head else b"")
                + b"x" * 65536
                + (b"\r\n" if b"chunked" in head else b"")
            )

    server, sent = raw(endless)
    with pytest.raises(TrialFailed, match="the answer is larger than 1 MiB"):
        server.text("/x")
    assert server.metrics("/x") == {}
    assert sent[0] < 64 << 20


def test_a_number_of_headers_without_end_is_refused(raw):
    def headers():
        yield HEAD
        while True:
            yield b"X: 1\r\n"

    server, _ = raw(headers)
    with pytest.raises(TrialFailed, match="did not answer the request GET /x: got more than 100 headers"):
        server.text("/x")


def test_json_that_is_nested_too_deep_is_a_sentence(server, web):
    web.answers = {"GET /x": "[" * 100_000, "GET /y": (500, "[" * 100_000)}
    with pytest.raises(TrialFailed, match="text that is not JSON"):
        server.json("/x")
    with pytest.raises(TrialFailed, match=r"refuses GET /y \(status 500\)"):
        server.json("/y")


def test_a_name_from_the_server_adds_no_line_to_the_next_request(server, web):
    web.otherwise = "5"
    assert server.text("/a b\r\nX: 1/_count") == "5"
    assert "X" not in web.asked[0].headers


def test_metrics_are_samples_with_labels():
    text = '# TYPE n counter\nn{name="a \\"b\\"",kind="x"} 3\nn{} 4\nm 1.5e3 1700000000\nno metric\n'
    assert parse_metrics(text) == {
        "n": [({"name": 'a \\"b\\"', "kind": "x"}, 3.0), ({}, 4.0)],
        "m": [({}, 1500.0)],
    }


def test_metrics_of_a_server_that_does_not_answer_are_none(server, web):
    assert server.metrics("/metrics") == {}
    web.answers = {"GET /metrics": "up 1\n"}
    assert server.metrics("/metrics") == {"up": [({}, 1.0)]}
