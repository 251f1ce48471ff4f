"""MinIO: an S3 server on a single drive, or one that already runs (``--system minio=http://host:port``)."""

from __future__ import annotations

import contextlib
import html
import os
import re
from pathlib import Path

from benchbook.errors import TrialFailed
from benchbook.storage.driver import allocated
from benchbook.storage.minio_server import S3, MinioServer
from benchbook.systems.client import BenchloadClient
from benchbook.systems.driver import Client, Place, TableCount

# MinIO: an S3 server on a single drive, or one that already runs (``--system minio=http://host:port``).
#
# The keys to one that already runs are taken from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, never from an
# address, which is stored with the results.


class Minio:
    """One MinIO server in one trial; a database of the trial is a bucket, its rows are objects."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.watched_seconds = 0.0
        """How long the last ``settle`` only watched; an acknowledged object is on the drive already."""
        self._created: list[str] = []
        self._given = _given(place.program.url) if place.program.url else None
        self._server = MinioServer(
            place.program.path or Path("minio"), place.data / "drive", place.logs / "minio.log",
            place.processes, place.host, {name: str(value) for name, value in place.settings.items()},
        )  # fmt: skip

    @property
    def s3(self) -> S3:
        """Address and keys, once it was started."""
        return self._given or self._server.s3

    def configure(self) -> dict[str, str]:
        """Return the environment that the arm sets; MinIO has no configuration file."""
        if self._given:
            return {}
        lines = [f"{name}={value}" for name, value in sorted(self._place.settings.items())]
        return {"minio.env": "\n".join(["# minio server {drive}", *lines, ""])}

    def start(self) -> None:
        """Start it; a server that already runs is left as it is."""
        if not self._given:
            self._server.start()

    def ready(self) -> bool:
        """Say whether it takes requests; raise TrialFailed with its last words when it has died."""
        if self._given:
            with contextlib.suppress(TrialFailed):
                self.s3.request("GET", "/", timeout_seconds=1.0)
                return True
            return False
        return self._server.ready()

    def prepare(self) -> None:
        """Make each bucket; refuse one that holds objects already."""
        for database in self._place.databases:
            bucket = bucket_of(database)
            if self._given and bucket in self._buckets():
                if self._listed(bucket):
                    raise TrialFailed(
                        f'The bucket "{bucket}" of {self.s3.url} already holds objects.', "Empty it first."
                    )
                continue
            self.s3.request("PUT", f"/{bucket}")
            self._created.append(bucket)

    def settle(self) -> None:
        """Return at once: MinIO answers when the object is on its drive, and has nothing to tidy up."""

    def size(self) -> dict[str, int]:
        """Return the bytes allocated to the buckets, and to MinIO's own files; nothing for a server elsewhere."""
        if self._given:
            return {}
        drive = self._place.data / "drive"
        return {
            "data": sum(allocated(drive / bucket_of(name)) for name in self._place.databases),
            "meta": allocated(drive / ".minio.sys"),
        }

    def version(self) -> str:
        """Return the version that the server states; of one elsewhere, where its metrics are public."""
        if self._given:
            server = MinioServer(Path("minio"), self._place.data, self._place.logs / "minio.log")
            server.s3 = self.s3
            return server.version()
        return self._server.version()

    def count(self) -> dict[str, TableCount]:
        """Count the objects of the first bucket."""
        return self.count_in(self._place.databases[0])

    def count_in(self, database: str) -> dict[str, TableCount]:
        """Return the number of objects in a bucket, as the table ``objects`` with its bytes as a field."""
        sizes = self._listed(bucket_of(database))
        return {"objects": TableCount(len(sizes), {"bytes": sum(sizes)})}

    def client(self, benchload: Path) -> Client:
        """Benchload, speaking S3; it takes objects, no rows, and answers no queries."""
        return BenchloadClient(
            benchload, target="s3", url=lambda: self.s3.url, database=bucket_of(self._place.databases[0]),
            log=self._place.logs / "benchload.log", registry=self._place.processes,
            environment=lambda: {
                "AWS_ACCESS_KEY_ID": self.s3.access_key, "AWS_SECRET_ACCESS_KEY": self.s3.secret_key
            },
        )  # fmt: skip

    def processes(self) -> list[int]:
        """Return the server's process tree; empty for a server elsewhere."""
        return self._server.pids()

    def stop(self) -> None:
        """Stop it; on a server that already ran, remove the buckets that this trial made where they are empty."""
        if self._given:
            for bucket in self._created:
                with contextlib.suppress(TrialFailed):
                    self.s3.request("DELETE", f"/{bucket}")
        self._created = []
        self._server.stop()

    def _buckets(self) -> list[str]:
        return re.findall(r"<Name>([^<]+)</Name>", self.s3.request("GET", "/").decode())

    def _listed(self, bucket: str) -> list[int]:
        """Return the size of every object of a bucket."""
        sizes: list[int] = []
        query = {"list-type": "2", "max-keys": "1000"}
        while True:
            answer = self.s3.request("GET", f"/{bucket}", query).decode()
            sizes += [int(size) for size in re.findall(r"<Size>(\d+)</Size>", answer)]
            token = re.search(r"<NextContinuationToken>([^<]+)<", answer)
            if token is None:
                return sizes
            query["continuation-token"] = html.unescape(token[1])


def bucket_of(database: str) -> str:
    """Return the bucket of a database: bucket names have no underscore.

    >>> bucket_of("benchbook_2")
    'benchbook-2'
    """
    return database.replace("_", "-")


def driver(place: Place) -> Minio:
    """Return the driver of one MinIO server."""
    return Minio(place)


def _given(url: str) -> S3:
    """Return address and keys of a server that already runs."""
    return S3(url, os.environ.get("AWS_ACCESS_KEY_ID", ""), os.environ.get("AWS_SECRET_ACCESS_KEY", ""))
