"""MinIO: an S3 server with one drive. A database of the trial is a bucket, and its rows are objects.

The keys of an external server come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, never from its address, because
results contain the address.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from benchbook.process import secret
from benchbook.storage.driver import allocated
from benchbook.storage.s3 import S3, USER, minio_command, minio_environment, minio_version
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import Client, Place, TableCount
from benchbook.systems.server import DatabaseServer, Layout, settings_text


class Minio(DatabaseServer):
    """One MinIO in one trial."""

    target = "s3"
    ports = ("port", "console")

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.log = place.logs / "minio.log"
        self._drive = place.data / "drive"
        if self.external:
            self._keys = os.environ.get("AWS_ACCESS_KEY_ID", ""), os.environ.get("AWS_SECRET_ACCESS_KEY", "")
        else:
            self._keys = USER, secret.draw()

    @property
    def s3(self) -> S3:
        """Address and keys."""
        return S3(self.url, *self._keys)

    def files(self, at: Layout) -> dict[str, str]:  # noqa: ARG002 - MinIO has no configuration file
        """Return the environment that the arm sets."""
        return {"minio.env": "# minio server {drive}\n" + settings_text(self.settings, "{}={}")}

    def command(self) -> Sequence[str | Path]:
        address, console = (self.layout.address(port) for port in self.ports)
        return minio_command(self.program, self._drive, address, console)

    def environment(self) -> dict[str, str]:
        arm = {name: str(value) for name, value in self.settings.items()}
        return minio_environment(self.s3) | arm

    def initialise(self) -> None:
        """Make the folder of the drive."""
        self._drive.mkdir(parents=True, exist_ok=True)

    def answers(self) -> bool:
        """List the buckets, because the health endpoint answers before the server accepts requests."""
        return self.s3.answers()

    def version(self) -> str:
        """Return the version that the server reports; an external server must make its metrics public."""
        self.check_alive(0.0)
        return minio_version(self.http)

    def databases(self) -> list[str]:
        """Return the names of the trial's databases whose buckets exist."""
        buckets = self.s3.buckets()
        return [name for name in self.place.databases if bucket_of(name) in buckets]

    def tables(self, database: str) -> list[str]:
        """Return ``objects`` if the bucket has any."""
        return ["objects"] if self.s3.object_sizes(bucket_of(database)) else []

    def create(self, database: str) -> None:
        """Create the bucket."""
        self.s3.make_bucket(bucket_of(database))

    def drop(self, database: str) -> None:
        """Remove the bucket, if it is empty."""
        self.s3.remove_bucket(bucket_of(database))

    def drop_command(self, database: str) -> str:
        return f"mc rb --force ALIAS/{bucket_of(database)}"

    def settle(self) -> None:
        """Return at once: MinIO acknowledges an object when it is on the drive, and has no background work."""

    def disk_usage(self) -> dict[str, int]:
        """Return the bytes of the buckets (data) and of MinIO's files (meta)."""
        return {
            "data": sum(allocated(self._drive / bucket_of(name)) for name in self.place.databases),
            "meta": allocated(self._drive / ".minio.sys"),
        }

    def count_in(self, database: str) -> dict[str, TableCount]:
        """Count the objects of a bucket as the table ``objects``, with their bytes as a field."""
        sizes = self.s3.object_sizes(bucket_of(database))
        return {"objects": TableCount(len(sizes), {"bytes": sum(sizes)})}

    def client_environment(self) -> dict[str, str]:
        return self.s3.environment

    def client(self, benchload: Path) -> Client:
        """Return benchload with S3, for objects only: no rows and no queries."""
        log = self.place.logs / "benchload.log"
        return BenchloadClient(benchload, **self.client_options(bucket_of(self.place.databases[0]), log))


driver = Minio


def bucket_of(database: str) -> str:
    """Return the bucket of a database; names of buckets have no underscore.

    >>> bucket_of("benchbook_2")
    'benchbook-2'
    """
    return database.replace("_", "-")
