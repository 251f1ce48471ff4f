"""A MinIO server: as a system under test, and behind a mounted bucket."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.process import secret, spawn
from benchbook.process.http import Http, Metrics
from benchbook.process.network import free_ports
from benchbook.process.wait import until
from benchbook.storage.s3 import S3

USER = "benchbook"
READY_SECONDS = 60.0
REQUEST_METRICS = "/minio/metrics/v3/api/requests"
NODE_METRICS = "/minio/v2/metrics/node"


def command(program: Path, drive: Path, address: str, console: str) -> list[str | Path]:
    """Return the command of a server with one drive."""
    return [program, "server", "--quiet", "--address", address, "--console-address", console, drive]


def environment(s3: S3) -> dict[str, str]:
    """Return the configuration of a server, which MinIO reads from its environment."""
    return {
        "MINIO_ROOT_USER": s3.access_key,
        "MINIO_ROOT_PASSWORD": s3.secret_key,
        "MINIO_PROMETHEUS_AUTH_TYPE": "public",
        "MINIO_BROWSER": "off",
        "MINIO_UPDATE": "off",
    }


def version(http: Http) -> str:
    """Return the version that a server reports among its metrics."""
    for labels, _ in http.metrics(NODE_METRICS).get("minio_software_version_info", []):
        return labels.get("version", "")
    raise TrialFailed(f"MinIO at {http.url} does not report its version.")


@dataclass
class MinioServer:
    """A MinIO with one drive, and with keys for one trial."""

    program: Path
    drive: Path
    log: Path
    registry: Path | None = None
    host: str = "127.0.0.1"
    s3: S3 = field(default_factory=lambda: S3("", USER, secret.draw()))
    _running: spawn.Running | None = field(init=False, default=None)

    def start(self) -> None:
        """Start it, and wait until it accepts requests."""
        address, console = (f"{self.host}:{port}" for port in free_ports(2, self.host))
        self.s3 = S3(f"http://{address}", self.s3.access_key, self.s3.secret_key)
        self.drive.mkdir(parents=True, exist_ok=True)
        self._running = spawn.start(
            command(self.program, self.drive, address, console),
            name="MinIO",
            log=self.log,
            environment=environment(self.s3),
            registry=self.registry,
        )
        if not until(self._ready, READY_SECONDS, pause=0.02):
            raise TrialFailed(f"MinIO at {self.s3.url} did not answer within {READY_SECONDS:.0f} s.")

    def _ready(self) -> bool:
        self.check()
        return self.s3.answers()  # its health endpoint answers too early

    def check(self) -> None:
        """Raise TrialFailed with the end of its log if it has died."""
        if self._running is not None:
            self._running.check()

    def metrics(self) -> Metrics:
        """Return its request counters; empty if it does not answer."""
        return Http("MinIO", self.s3.url).metrics(REQUEST_METRICS)

    def processes(self) -> list[int]:
        """Return its process tree."""
        return self._running.tree() if self._running is not None else []

    def stop(self) -> None:
        """Send SIGTERM, then SIGKILL; keep the drive."""
        if self._running is not None:
            self._running.stop()
            self._running = None
