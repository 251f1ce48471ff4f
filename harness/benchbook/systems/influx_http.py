"""The few requests to InfluxDB's HTTP interface that are no part of a measurement."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from benchbook.errors import TrialFailed

# A proxy between the harness and the server would be measured too: none is ever used.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class InfluxHttp:
    """A server at ``url``. Every request may raise TrialFailed with the server's words."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ping(self, timeout_seconds: float = 1.0) -> str | None:
        """Return the version that the server states, or None when it does not answer."""
        try:
            with _OPENER.open(f"{self.url}/ping", timeout=timeout_seconds) as answer:
                return str(answer.headers.get("X-Influxdb-Version", ""))
        except (OSError, ValueError):
            return None

    def query(
        self, statement: str, database: str = "", timeout_seconds: float = 600.0
    ) -> list[dict[str, Any]]:
        """Run one InfluxQL statement and return its series (``name``, ``tags``, ``columns``, ``values``)."""
        form = urllib.parse.urlencode({"q": statement, "db": database, "epoch": "ns"}).encode()
        answer = self._json("/query", form, timeout_seconds, statement)
        result = answer["results"][0] if answer.get("results") else answer
        if "error" in result:
            raise TrialFailed(f"InfluxDB refuses {statement}: {result['error']}.")
        return list(result.get("series", []))

    def statistics(self) -> list[dict[str, Any]]:
        """Return the server's own counters: objects with ``name``, ``tags`` and ``values``."""
        answer = self._json("/debug/vars", None, 30.0, "/debug/vars")
        return [one for one in answer.values() if isinstance(one, dict) and "values" in one]

    def _json(self, path: str, form: bytes | None, timeout_seconds: float, what: str) -> dict[str, Any]:
        # The address is the harness's own or was checked to be http(s) when it was given.
        request = urllib.request.Request(self.url + path, data=form)  # noqa: S310
        try:
            with _OPENER.open(request, timeout=timeout_seconds) as answer:
                content = answer.read()
        except urllib.error.HTTPError as error:
            content = error.read()
            if error.code != 400:
                words = content.decode(errors="replace")[:300].strip()
                raise TrialFailed(f"InfluxDB answers {what} with status {error.code}: {words}") from error
        except OSError as error:
            raise TrialFailed(f"InfluxDB at {self.url} does not answer {what}: {error}.") from error
        try:
            found = json.loads(content)
        except ValueError as error:
            raise TrialFailed(
                f"InfluxDB answers {what} with something that is no JSON: {content[:200]!r}."
            ) from error
        return found if isinstance(found, dict) else {}
