"""A small HTTP server with answers from the test, which records its requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    parameters: dict[str, str]
    body: str
    headers: dict[str, str]

    @property
    def statement(self) -> str:
        """The query: the parameter ``q`` or ``query``, else the body."""
        return self.parameters.get("q") or self.parameters.get("query") or self.body


@dataclass
class Web:
    """Answer requests by the first key that matches: ``GET /path``, or the beginning of the statement."""

    answers: dict[str, Any] = field(default_factory=dict)
    """Text, a JSON value, (status, content) or (status, content, headers), or a function of the request."""
    otherwise: Any = (404, "no such path")
    asked: list[Asked] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def statements(self) -> list[str]:
        return [one.statement for one in self.asked]

    def answer(self, asked: Asked) -> tuple[int, str, dict[str, str]]:
        line = f"{asked.method} {asked.path}"
        fits = (
            found for key, found in self.answers.items() if line == key or asked.statement.startswith(key)
        )
        found = next(fits, self.otherwise)
        if callable(found):
            found = found(asked)
        status, content, headers = (*found, {})[:3] if isinstance(found, tuple) else (200, found, {})
        return status, content if isinstance(content, str) else json.dumps(content), headers


@contextmanager
def serving() -> Iterator[Web]:
    """Serve for the length of a test."""
    made = Web()

    class Handler(BaseHTTPRequestHandler):
        def respond(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
            asked = Asked(self.command, parts.path, dict(parse_qsl(parts.query)), body, dict(self.headers))
            made.asked.append(asked)
            status, text, headers = made.answer(asked)
            content = b"" if status == 204 else text.encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = respond  # noqa: N815 - names of the library

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield made
    server.shutdown()
    server.server_close()
