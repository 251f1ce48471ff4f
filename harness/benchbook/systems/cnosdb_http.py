"""The few requests to CnosDB's HTTP interface that are no part of a measurement."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from benchbook.errors import TrialFailed

# A proxy between the harness and the server would be measured too: none is ever used.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
HEADERS = {"Authorization": "Basic cm9vdDo=", "Accept": "application/json"}
"""The user ``root`` without a password, whom every version has; authentication is off by default."""


class CnosHttp:
    """A server at ``url``. Every request but ``ping`` may raise TrialFailed with the server's words."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ping(self, timeout_seconds: float = 1.0) -> str | None:
        """Return the version that the server states, or None when it does not answer."""
        try:
            with _OPENER.open(f"{self.url}/api/v1/ping", timeout=timeout_seconds) as answer:
                found = json.loads(answer.read())
        except (OSError, ValueError):
            return None
        # 2.4 adds revision and build time: "2.4.3, revision: …"
        number = re.match(r"\d+(\.\d+)*", str(found.get("version"))) if isinstance(found, dict) else None
        return number.group() if number else ""

    def sql(
        self, statement: str, database: str = "public", timeout_seconds: float = 900.0
    ) -> list[dict[str, Any]]:
        """Run one SQL statement and return its rows; none where the answer has no body, as of DDL."""
        where = urllib.parse.urlencode({"db": database})
        # The address is the harness's own or was checked to be http(s) when it was given.
        request = urllib.request.Request(  # noqa: S310
            f"{self.url}/api/v1/sql?{where}", data=statement.encode(), headers=HEADERS
        )
        try:
            with _OPENER.open(request, timeout=timeout_seconds) as answer:
                content = answer.read()
        except urllib.error.HTTPError as error:
            words = _words(error.read())
            raise TrialFailed(f"CnosDB refuses {statement} (status {error.code}): {words}") from error
        except OSError as error:
            raise TrialFailed(f"CnosDB at {self.url} does not answer {statement}: {error}.") from error
        if not content.strip():
            return []
        try:
            found = json.loads(content)
        except ValueError as error:
            raise TrialFailed(
                f"CnosDB answers {statement} with something that is no JSON: {content[:200]!r}."
            ) from error
        return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _words(content: bytes) -> str:
    """Return the server's own sentence out of the body of an error."""
    text = content.decode(errors="replace")
    try:
        found = json.loads(text)
    except ValueError:
        return " ".join(text.split())[:500]
    if isinstance(found, dict) and found.get("error_message"):
        return str(found["error_message"])[:500]
    return " ".join(text.split())[:500]
