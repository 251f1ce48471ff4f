"""The buckets of an S3 server, for work outside measurements."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from benchbook.errors import TrialFailed

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
            self._filesystem().create_dir(bucket)

    def remove_bucket(self, bucket: str) -> None:
        """Remove a bucket if it is empty."""
        if not self.object_sizes(bucket):
            with self._failure(f"remove the bucket {bucket}"):
                self._filesystem().delete_dir(bucket)

    def object_sizes(self, bucket: str) -> list[int]:
        """Return the size of every object in a bucket."""
        return [info.size for info in self._list(bucket, ANSWER_SECONDS) if info.is_file]

    def _list(self, path: str, timeout_seconds: float) -> list[Any]:
        from pyarrow.fs import FileSelector

        with self._failure(f"list {path or 'its buckets'}"):
            files = self._filesystem(timeout_seconds)
            return list(files.get_file_info(FileSelector(path, recursive=bool(path))))

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
