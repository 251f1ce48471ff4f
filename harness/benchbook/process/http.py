"""HTTP requests outside measurements: time limits, bounded answers, retries and errors.

A limit of each read would not end the answer of a server that sends a byte from time to time, and such a server or an
endless answer must stop no run. So a request has one time limit in total, and an answer a largest size.
"""

from __future__ import annotations

import http.client
import json
import re
import select
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from benchbook.errors import TrialFailed
from benchbook.host.texts import parse_json
from benchbook.process.wait import limited

Metrics = dict[str, list[tuple[dict[str, str], float]]]
"""Metric name → its samples, each with its labels."""

CONNECT_SECONDS = 5.0
METRICS_SECONDS = 10.0
ANSWER_SECONDS = 900.0
"""Default time limit of a request: settling and counting are slow."""
BODY_SECONDS = 60.0
"""Time that an answer may take from its first byte to its last: it is computed by then, and is small."""
MOST_BYTES = 64 << 20
"""Largest answer: the names of 100,000 metrics, the longest answer that a driver asks for, have about 10 MB."""
RETRIES = 2
"""Number of retries after a failed connection, when the server has not seen the request."""
RETRY_PAUSE_SECONDS = 0.1
REASON_CHARACTERS = 500
"""Maximum length of a server's explanation in a message."""


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status_code: int
    headers: http.client.HTTPMessage
    content: bytes

    @property
    def ok(self) -> bool:
        """True if the server did what was asked."""
        return self.status_code < 300

    @property
    def text(self) -> str:
        """The content as text."""
        return self.content.decode(errors="replace")

    def json(self) -> Any:
        """Return the content parsed as JSON; raise ValueError."""
        try:
            return parse_json(self.text)
        except RecursionError as error:
            raise ValueError("it is nested too deep") from error


class Http:
    """A server at ``url``; messages call it ``name``."""

    def __init__(
        self,
        name: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        on_failure: Callable[[], None] = lambda: None,
        on_answer: Callable[[str], None] = lambda _: None,
    ) -> None:
        """``on_failure`` may raise a more specific error, such as that the server died.

        ``on_answer`` receives a description of each answer, for the case that its reader does not understand it.
        """
        self.name, self.url = name, url
        self._headers = dict(headers or {})
        self._on_failure = on_failure
        self._on_answer = on_answer

    def probe(self, path: str, timeout_seconds: float = 2.0) -> Answer | None:
        """Return the answer to a GET, whatever its status; None if the server does not answer in time."""
        try:
            return self._send("GET", path, timeout_seconds, retries=0)
        except (OSError, http.client.HTTPException, ValueError):
            return None

    def answers(self, path: str, timeout_seconds: float = 2.0, **options: Any) -> bool:
        """Return whether a GET succeeds."""
        found = self.probe(path, timeout_seconds, **options)
        return found is not None and found.status_code == 200

    def text(
        self,
        path: str,
        body: Any = None,
        *,
        method: str | None = None,
        params: Mapping[str, Any] | None = None,
        what: str | None = None,
        timeout_seconds: float = ANSWER_SECONDS,
    ) -> str:
        """Return the body of the answer; raise TrialFailed with the server's explanation if it refuses.

        A string as ``body`` is sent as plain text, anything else as JSON. The method is GET without a body, else POST.
        Messages call the request ``what``.
        """
        method = method or ("GET" if body is None else "POST")
        what = what or f"{method} {path}"
        try:
            answer = self._send(method, path, timeout_seconds, RETRIES, body, params)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._on_failure()
            raise TrialFailed(
                f"{self.name} at {self.url} did not answer the request {what}: {_reason(error)}.",
                "The log of the server may say why.",
            ) from error
        if not answer.ok:
            self._on_failure()
            raise TrialFailed(
                f"{self.name} refuses {what} (status {answer.status_code}): {_explanation(answer)}"
            )
        self._on_answer(f"{what} with {answer.text[:200]!r}")
        return answer.text

    def json(self, path: str, body: Any = None, **options: Any) -> Any:
        """Return the body of the answer parsed as JSON; options are those of ``text``."""
        text = self.text(path, body, **options)
        try:
            return parse_json(text)
        except (ValueError, RecursionError) as error:
            what = options.get("what") or path
            raise TrialFailed(
                f"{self.name} answers {what} with text that is not JSON: {text[:200]!r}."
            ) from error

    def metrics(self, path: str) -> Metrics:
        """Return the samples of a Prometheus endpoint; empty if it does not answer."""
        answer = self.probe(path, METRICS_SECONDS)
        return parse_metrics(answer.text) if answer is not None and answer.ok else {}

    def _send(
        self,
        method: str,
        path: str,
        timeout_seconds: float,
        retries: int,
        body: Any = None,
        params: Mapping[str, Any] | None = None,
    ) -> Answer:
        headers, data = dict(self._headers), None
        if isinstance(body, str):
            headers, data = {"Content-Type": "text/plain; charset=utf-8", **headers}, body.encode()
        elif body is not None:
            headers, data = {"Content-Type": "application/json", **headers}, json.dumps(body).encode()
        until = time.monotonic() + timeout_seconds
        with self._connected(until, retries) as connection:
            connection.request(method, _target(self.url + path, params), data, {**self._login(), **headers})
            sock = connection.sock
            assert sock is not None
            if not _readable(sock, until):
                raise TimeoutError(f"no answer within {timeout_seconds:g} s")
            with limited(min(BODY_SECONDS, _left(until)), lambda: hang_up(sock)) as over:
                try:
                    answer = connection.getresponse()
                    content = answer.read(MOST_BYTES + 1)
                except (OSError, http.client.HTTPException):
                    if not over.is_set():
                        raise
                if over.is_set():
                    raise TimeoutError("the answer had begun, but did not end in time")
        if len(content) > MOST_BYTES:
            raise ValueError(f"the answer is larger than {MOST_BYTES >> 20} MiB")
        return Answer(answer.status, answer.headers, content)

    @contextmanager
    def _connected(self, until: float, retries: int) -> Iterator[http.client.HTTPConnection]:
        """Connect directly: a proxy between the harness and the server would be measured too."""
        parts = urlsplit(self.url)
        seconds = max(0.001, min(CONNECT_SECONDS, _left(until)))
        host = parts.hostname or ""
        made = (
            http.client.HTTPSConnection(
                host, parts.port, timeout=seconds, context=ssl.create_default_context()
            )
            if parts.scheme == "https"
            else http.client.HTTPConnection(host, parts.port, timeout=seconds)
        )
        try:
            for attempt in range(retries + 1):
                try:
                    made.connect()
                    break
                except OSError:
                    if attempt == retries or _left(until) <= RETRY_PAUSE_SECONDS:
                        raise
                    time.sleep(RETRY_PAUSE_SECONDS)
            made.sock.settimeout(max(0.001, _left(until)))
            yield made
        finally:
            made.close()

    def _login(self) -> dict[str, str]:
        """Return the header with the user and password of the URL, if it has any."""
        parts = urlsplit(self.url)
        if not parts.username:
            return {}
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _left(until: float) -> float:
    return until - time.monotonic()


def _target(url: str, params: Mapping[str, Any] | None) -> str:
    """Return the path and query of a request, with characters quoted that a server might misread."""
    parts = urlsplit(url)
    query = "&".join(filter(None, [quote(parts.query, safe=_SAFE), urlencode(params or {}, doseq=True)]))
    return (quote(parts.path, safe=_SAFE) or "/") + (f"?{query}" if query else "")


_SAFE = "%/?=&,*:;@$!'()+~"


def _readable(sock: socket.socket, until: float) -> bool:
    """Wait for the first byte of an answer."""
    if isinstance(sock, ssl.SSLSocket) and sock.pending():
        return True
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(max(0.0, _left(until)) * 1000))


def hang_up(sock: socket.socket) -> None:
    """End a connection, so that whatever reads from it now returns."""
    with suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)  # below TLS, whose state the reader uses


def _explanation(answer: Answer) -> str:
    """Extract the server's explanation from the body of an error."""
    content = answer.text
    try:
        found = answer.json()
    except ValueError:
        found = None
    if isinstance(found, dict):
        sentences = (found.get(key) for key in ("error_message", "error", "message"))
        content = next((one for one in sentences if isinstance(one, str) and one), content)
    return " ".join(content[: 100 * REASON_CHARACTERS].split())[:REASON_CHARACTERS]


def _reason(error: BaseException) -> str:
    """Return the operating system's message for a connection error, else the innermost error's."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__


_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? ([-+]?(?:[\d.]+(?:[eE][-+]?\d+)?|Inf|NaN))(?: \d+)?$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def parse_metrics(text: str) -> Metrics:
    r"""Return the samples of a text in the Prometheus format.

    >>> parse_metrics('# HELP n\nn{name="put"} 3\nn{name="get"} 4e1\n')
    {'n': [({'name': 'put'}, 3.0), ({'name': 'get'}, 40.0)]}
    """
    found: Metrics = {}
    for sample in filter(None, map(_SAMPLE.match, text.splitlines())):
        found.setdefault(sample[1], []).append((dict(_LABEL.findall(sample[2] or "")), float(sample[3])))
    return found
