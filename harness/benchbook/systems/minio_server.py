"""One MinIO server on free loopback ports: as a system under test, and as what stands behind a mounted bucket."""

from __future__ import annotations

import contextlib
import re
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.systems import process, secret
from benchbook.systems.ports import free_ports
from benchbook.systems.s3_request import S3

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')

Metrics = dict[str, list[tuple[dict[str, str], float]]]
"""Name of a metric → its samples, each with its labels."""


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
    _running: process.Running | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.s3 = S3("", "benchbook", secret.draw())

    def start(self) -> None:
        """Start it, without waiting until it is ready."""
        port, console = free_ports(2, self.host)
        self.s3 = S3(f"http://{self.host}:{port}", self.s3.access_key, self.s3.secret_key)
        self.data.mkdir(parents=True, exist_ok=True)
        self._running = process.start(
            [
                self.program, "server", "--quiet", "--address", f"{self.host}:{port}",
                "--console-address", f"{self.host}:{console}", self.data,
            ],
            words="MinIO",
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
