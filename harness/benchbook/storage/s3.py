"""S3 servers: their buckets, for work outside measurements, and MinIO as a system or behind a mounted bucket."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchbook.errors import TrialFailed
from benchbook.process import secret, spawn
from benchbook.process.http import Http, Metrics
from benchbook.process.network import free_ports
from benchbook.process.wait import until, within

REGION = "us-east-1"
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 60.0
PROBE_SECONDS = 1.0


@dataclass(frozen=True)
class S3:
    """An S3 server and its keys; requests name the bucket in the path."""

    url: str
    access_key: str
    secret_key: str

    @property
    def environment(self) -> dict[str, str]:
        """The keys as environment variables for clients."""
        return {"AWS_ACCESS_KEY_ID": self.access_key, "AWS_SECRET_ACCESS_KEY": self.secret_key}

    def answers(self) -> bool:
        """Return whether the server accepts requests."""
        try:
            self.buckets(PROBE_SECONDS)
        except TrialFailed:
            return False
        return True

    def buckets(self, timeout_seconds: float = ANSWER_SECONDS) -> list[str]:
        """Return the names of all buckets."""
        return [info.base_name for info in self._list("", timeout_seconds)]

    def make_bucket(self, bucket: str) -> None:
        """Create a bucket."""
        with self._failure(f"make the bucket {bucket}"):
            within(ANSWER_SECONDS, lambda: self._filesystem().create_dir(bucket))

    def remove_bucket(self, bucket: str) -> None:
        """Remove a bucket if it is empty."""
        if not self.object_sizes(bucket):
            with self._failure(f"remove the bucket {bucket}"):
                within(ANSWER_SECONDS, lambda: self._filesystem().delete_dir(bucket))

    def object_sizes(self, bucket: str) -> list[int]:
        """Return the size of every object in a bucket."""
        return [info.size for info in self._list(bucket, ANSWER_SECONDS) if info.is_file]

    def _list(self, path: str, timeout_seconds: float) -> list[Any]:
        from pyarrow.fs import FileSelector

        with self._failure(f"list {path or 'its buckets'}"):
            selected = FileSelector(path, recursive=bool(path))
            return within(
                timeout_seconds, lambda: list(self._filesystem(timeout_seconds).get_file_info(selected))
            )

    def _filesystem(self, timeout_seconds: float = ANSWER_SECONDS) -> Any:
        from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

        parts = urlsplit(self.url)
        keys = {"access_key": self.access_key, "secret_key": self.secret_key}
        return S3FileSystem(
            **(keys if self.access_key else {"anonymous": True}),
            scheme=parts.scheme, endpoint_override=parts.netloc, region=REGION,
            connect_timeout=min(timeout_seconds, CONNECT_SECONDS), request_timeout=timeout_seconds,
            retry_strategy=AwsStandardS3RetryStrategy(max_attempts=1),
            allow_bucket_creation=True, allow_bucket_deletion=True,
        )  # fmt: skip

    @contextlib.contextmanager
    def _failure(self, what: str) -> Iterator[None]:
        """Raise the server's error as TrialFailed."""
        try:
            yield
        except OSError as error:
            raise TrialFailed(f"{self.url} refuses to {what}: {error}.") from None


USER = "benchbook"
READY_SECONDS = 60.0
REQUEST_METRICS = "/minio/metrics/v3/api/requests"
NODE_METRICS = "/minio/v2/metrics/node"


def minio_command(program: Path, drive: Path, address: str, console: str) -> list[str | Path]:
    """Return the command of a server with one drive."""
    return [program, "server", "--quiet", "--address", address, "--console-address", console, drive]


def minio_environment(s3: S3) -> dict[str, str]:
    """Return the configuration of a server, which MinIO reads from its environment."""
    return {
        "MINIO_ROOT_USER": s3.access_key,
        "MINIO_ROOT_PASSWORD": s3.secret_key,
        "MINIO_PROMETHEUS_AUTH_TYPE": "public",
        "MINIO_BROWSER": "off",
        "MINIO_UPDATE": "off",
    }


def minio_version(http: Http) -> str:
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
            minio_command(self.program, self.drive, address, console),
            name="MinIO",
            log=self.log,
            environment=minio_environment(self.s3),
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
