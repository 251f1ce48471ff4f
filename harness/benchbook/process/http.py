"""HTTP requests outside measurements: timeouts, retries and errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from benchbook.errors import TrialFailed

if TYPE_CHECKING:
    from requests import Response

Metrics = dict[str, list[tuple[dict[str, str], float]]]
"""Metric name → its samples, each with its labels."""

CONNECT_SECONDS = 5.0
METRICS_SECONDS = 10.0
ANSWER_SECONDS = 900.0
"""Default time limit of a request: settling and counting are slow."""
RETRIES = 2
"""Number of retries after a failed connection, when the server has not seen the request."""
REASON_CHARACTERS = 500
"""Maximum length of a server's explanation in a message."""


class Http:
    """A server at ``url``; messages call it ``name``."""

    def __init__(
        self,
        name: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        on_failure: Callable[[], None] = lambda: None,
    ) -> None:
        """``on_failure`` may raise a more specific error, such as that the server died."""
        self.name, self.url = name, url
        self._headers = dict(headers or {})
        self._on_failure = on_failure

    def probe(self, path: str, timeout_seconds: float = 2.0) -> Response | None:
        """Return the answer to a GET, whatever its status; None if the server does not answer in time."""
        import requests

        try:
            return self._send("GET", path, timeout_seconds, retries=0)
        except (requests.RequestException, ValueError):
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
        import requests

        method = method or ("GET" if body is None else "POST")
        what = what or f"{method} {path}"
        try:
            answer = self._send(method, path, timeout_seconds, RETRIES, body, params)
        except requests.RequestException as error:
            self._on_failure()
            raise TrialFailed(
                f"{self.name} at {self.url} did not answer the request {what}: {_reason(error)}.",
                "The log of the server may say why.",
            ) from error
        content = answer.content.decode(errors="replace")
        if not answer.ok:
            self._on_failure()
            raise TrialFailed(
                f"{self.name} refuses {what} (status {answer.status_code}): {_explanation(content)}"
            )
        return content

    def json(self, path: str, body: Any = None, **options: Any) -> Any:
        """Return the body of the answer parsed as JSON; options are those of ``text``."""
        text = self.text(path, body, **options)
        try:
            return json.loads(text)
        except ValueError as error:
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
    ) -> Response:
        import requests
        from requests.adapters import HTTPAdapter
        from urllib3.util import Retry

        headers, data = self._headers, body
        if isinstance(body, str):
            headers, data = {"Content-Type": "text/plain; charset=utf-8", **headers}, body.encode()
        elif body is not None:
            headers, data = {"Content-Type": "application/json", **headers}, json.dumps(body)
        with requests.Session() as session:
            # A proxy between the harness and the server would be measured too.
            session.trust_env = False
            policy = Retry(retries, connect=retries, read=0, backoff_factor=0.1)
            session.mount(self.url, HTTPAdapter(max_retries=policy))
            timeout = (min(CONNECT_SECONDS, timeout_seconds), timeout_seconds)
            return session.request(
                method, self.url + path, params=params, data=data, headers=headers, timeout=timeout
            )


def _explanation(content: str) -> str:
    """Extract the server's explanation from the body of an error."""
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    if isinstance(found, dict):
        sentences = (found.get(key) for key in ("error_message", "error", "message"))
        content = next((one for one in sentences if isinstance(one, str) and one), content)
    return " ".join(content.split())[:REASON_CHARACTERS]


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
