"""A proxy before an InfluxDB 1 that answers late, or empty for some of its questions.

``python stand_in.py PORT UPSTREAM_PORT [--late SECONDS] [--empty FIRST,LAST]``: questions are counted from 0 since the
database was made last, and those from FIRST to LAST get an answer without rows.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote_plus

EMPTY = b'{"results":[{"statement_id":0}]}\n'
PER_CONNECTION = frozenset({"connection", "content-length", "date", "host", "transfer-encoding"})

parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("upstream", type=int)
parser.add_argument("--late", type=float, default=0.0)
parser.add_argument("--empty", default="1,0")
options = parser.parse_args()
first, last = map(int, options.empty.split(","))
local = threading.local()
asked = itertools.count()


class Handler(BaseHTTPRequestHandler):
    """Passes each request on, but for what the options change."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def handle_any(self) -> None:
        """Answer one request."""
        global asked  # noqa: PLW0603 - the count begins again with each database
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        statement = unquote_plus(self.path + body[:2000].decode("latin-1"))
        if "CREATE DATABASE" in statement:
            asked = itertools.count()
        elif self.path.startswith("/query") and "group by time" in statement:
            time.sleep(options.late)
            if first <= next(asked) <= last:
                self.answer(200, [("Content-Type", "application/json")], EMPTY)
                return
        if not hasattr(local, "upstream"):
            local.upstream = http.client.HTTPConnection("127.0.0.1", options.upstream, timeout=60)
        local.upstream.request(self.command, self.path, body, kept(self.headers.items()))
        found = local.upstream.getresponse()
        self.answer(found.status, found.getheaders(), found.read())

    def answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Send an answer."""
        self.send_response_only(status)
        for name, value in kept(headers).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    do_GET = do_POST = do_HEAD = handle_any  # noqa: N815 - the library calls these names


def kept(headers: object) -> dict[str, str]:
    """Return the headers that are not about one connection."""
    return {name: value for name, value in headers if name.lower() not in PER_CONNECTION}  # type: ignore[attr-defined]


ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()
