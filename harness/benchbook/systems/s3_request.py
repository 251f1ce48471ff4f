"""One signed request to an S3 server (Signature Version 4), for what is no part of a measurement."""

from __future__ import annotations

import hashlib
import hmac
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from datetime import UTC, datetime

from benchbook.errors import TrialFailed

REGION = "us-east-1"
# A proxy between the harness and the server would be measured too: none is ever used.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class S3:
    """An S3 server and the keys to it; buckets are named in the path."""

    url: str
    access_key: str
    secret_key: str

    def request(
        self, method: str, path: str, query: dict[str, str] | None = None, timeout_seconds: float = 60.0
    ) -> bytes:
        """Send a request without a body and return the answer's; raise TrialFailed with the server's words."""
        encoded = "&".join(
            f"{urllib.parse.quote(key, safe='')}={urllib.parse.quote(value, safe='')}"
            for key, value in sorted((query or {}).items())
        )
        place = urllib.parse.quote(path)
        address = f"{self.url}{place}" + (f"?{encoded}" if encoded else "")
        headers = self._signed(method, place, encoded, datetime.now(UTC))
        asked = urllib.request.Request(address, method=method, headers=headers)  # noqa: S310 - the driver's own
        try:
            with _OPENER.open(asked, timeout=timeout_seconds) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            words = error.read().decode(errors="replace")[:500]
            raise TrialFailed(f"{self.url} refuses {method} {path}: {error.code} {words}") from None
        except (OSError, ValueError) as error:
            raise TrialFailed(f"{self.url} does not answer {method} {path}: {error}.") from None

    def _signed(self, method: str, path: str, query: str, now: datetime) -> dict[str, str]:
        """Return the headers of a request whose body is empty."""
        stamp, day = f"{now:%Y%m%dT%H%M%SZ}", f"{now:%Y%m%d}"
        empty = hashlib.sha256(b"").hexdigest()
        headers = {
            "host": urllib.parse.urlsplit(self.url).netloc,
            "x-amz-content-sha256": empty,
            "x-amz-date": stamp,
        }
        names = ";".join(headers)
        lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
        canonical = "\n".join((method, path, query, lines, names, empty))
        scope = f"{day}/{REGION}/s3/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        key = f"AWS4{self.secret_key}".encode()
        for part in (day, REGION, "s3", "aws4_request"):
            key = hmac.digest(key, part.encode(), "sha256")
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        credential = f"{self.access_key}/{scope}"
        return {
            **headers,
            "authorization": f"AWS4-HMAC-SHA256 Credential={credential},SignedHeaders={names},Signature={signature}",
        }
