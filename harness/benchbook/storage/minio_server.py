"""One MinIO server on free loopback ports: as a system under test, and as what stands behind a mounted bucket."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.process import secret, spawn
from benchbook.process.network import free_ports

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')

Metrics = dict[str, list[tuple[dict[str, str], float]]]
"""Name of a metric → its samples, each with its labels."""


# One signed request to an S3 server (Signature Version 4), for what is no part of a measurement.

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


@dataclass
class MinioServer:
    """A single-node, single-drive MinIO with keys of its own, drawn for one trial."""

    program: Path
    data: Path
    """Folder of its drive."""
    log: Path
    registry: Path | None = None
    host: str = "127.0.0.1"
    environment: Mapping[str, str] = field(default_factory=dict)
    """Differences from its default configuration; MinIO is configured by its environment."""
    s3: S3 = field(init=False)
    _running: spawn.Running | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.s3 = S3("", "benchbook", secret.draw())

    def start(self) -> None:
        """Start it, without waiting until it is ready."""
        port, console = free_ports(2, self.host)
        self.s3 = S3(f"http://{self.host}:{port}", self.s3.access_key, self.s3.secret_key)
        self.data.mkdir(parents=True, exist_ok=True)
        self._running = spawn.start(
            [
                self.program, "server", "--quiet", "--address", f"{self.host}:{port}",
                "--console-address", f"{self.host}:{console}", self.data,
            ],
            name="MinIO",
            log=self.log,
            environment={
                "MINIO_ROOT_USER": self.s3.access_key,
                "MINIO_ROOT_PASSWORD": self.s3.secret_key,
                "MINIO_PROMETHEUS_AUTH_TYPE": "public",
                "MINIO_BROWSER": "off",
                "MINIO_UPDATE": "off",
                **self.environment,
            },
            registry=self.registry,
        )  # fmt: skip

    def check(self) -> None:
        """Raise TrialFailed with its last words when it has died."""
        if self._running is not None:
            self._running.check()

    def ready(self) -> bool:
        """Say whether it takes requests; raise TrialFailed when it has died."""
        self.check()
        # Its health endpoint answers before it takes requests: buckets are asked for instead.
        with contextlib.suppress(TrialFailed):
            self.s3.request("GET", "/", timeout_seconds=1.0)
            return True
        return False

    def wait_ready(self, seconds: float = 60.0) -> None:
        """Return when it takes requests; raise TrialFailed when it does not in time."""
        deadline = time.monotonic() + seconds
        while not self.ready():
            if time.monotonic() > deadline:
                raise TrialFailed(f"MinIO at {self.s3.url} did not answer within {seconds:.0f} s.")
            time.sleep(0.02)

    def version(self) -> str:
        """Return the version that the running server states among its metrics."""
        self.check()
        for labels, _ in self.metrics("/minio/v2/metrics/node").get("minio_software_version_info", []):
            return labels.get("version", "")
        raise TrialFailed(f"MinIO at {self.s3.url} does not state its version.")

    def metrics(self, path: str = "/minio/metrics/v3/api/requests") -> Metrics:
        """Return what its metrics endpoint tells; nothing where it does not answer."""
        found: Metrics = {}
        for line in (self._get(path, 10.0) or "").splitlines():
            sample = _SAMPLE.match(line)
            if sample:
                labels = dict(_LABEL.findall(sample[2] or ""))
                found.setdefault(sample[1], []).append((labels, float(sample[3])))
        return found

    def pids(self) -> list[int]:
        """Return its process tree."""
        return self._running.tree() if self._running is not None else []

    def stop(self) -> None:
        """SIGTERM, then SIGKILL; the drive stays."""
        if self._running is not None:
            self._running.stop()
            self._running = None

    def _get(self, path: str, timeout_seconds: float) -> str | None:
        try:
            with _OPENER.open(f"{self.s3.url}{path}", timeout=timeout_seconds) as answer:
                return str(answer.read().decode())
        except (OSError, ValueError):
            return None
