"""Requests to a server's HTTP interface that are no part of a measurement."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

from benchbook.errors import TrialFailed

# A proxy between the harness and the server would be measured too: none is ever used.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
PATIENCE_SECONDS = 600.0


class HttpAsk:
    """A server at ``url``, named in words for messages."""

    def __init__(self, words: str, url: str) -> None:
        self.words, self.url = words, url

    def status(self, path: str, timeout_seconds: float = 2.0) -> int | None:
        """Return the status of a GET, or None when nothing answers."""
        try:
            with _OPENER.open(self.url + path, timeout=timeout_seconds) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except (OSError, ValueError):
            return None

    def text(self, path: str, body: Any = None, method: str | None = None) -> str:
        """Return the body of an answer; raise TrialFailed with the server's words when it is no success.

        A ``body`` that is no text is sent as JSON.
        """
        data = body.encode() if isinstance(body, str) else None if body is None else json.dumps(body).encode()
        # The address is the harness's own or was checked to be http(s) when it was given.
        request = urllib.request.Request(  # noqa: S310
            self.url + path, data=data, method=method, headers={"Content-Type": "application/json"}
        )
        try:
            with _OPENER.open(request, timeout=PATIENCE_SECONDS) as answer:
                return str(answer.read().decode(errors="replace"))
        except urllib.error.HTTPError as error:
            said = " ".join(error.read().decode(errors="replace").split())[:400]
            raise TrialFailed(
                f"{self.words} answers {method or ''} {path} with status {error.code}: {said}"
            ) from error
        except OSError as error:
            raise TrialFailed(f"{self.words} at {self.url} does not answer {path}: {error}.") from error

    def json(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """Return the body of an answer, which must be JSON."""
        text = self.text(path, body, method)
        try:
            return json.loads(text)
        except ValueError as error:
            raise TrialFailed(
                f"{self.words} answers {path} with something that is no JSON: {text[:200]!r}."
            ) from error
