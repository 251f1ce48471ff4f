"""minio-s3fs: a bucket of a private MinIO, mounted through FUSE by s3fs.

MinIO stores the bucket on the local disk, so the difference from ``local`` is the path through S3 and FUSE. The data
folder is a folder of the bucket.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from benchbook.declare.storage import S3fsOptions
from benchbook.errors import TrialFailed, Unavailable
from benchbook.process import spawn
from benchbook.process.wait import until
from benchbook.storage import mounting
from benchbook.storage.driver import Facts, StoragePlace, allocated
from benchbook.storage.local import Storage, drop_page_cache
from benchbook.storage.s3 import MinioServer

REQUESTS, SENT, RECEIVED = (
    "minio_api_requests_total",
    "minio_api_requests_traffic_sent_bytes",
    "minio_api_requests_traffic_received_bytes",
)
KINDS = {
    "storage_put_requests": ("PutObject", "PutObjectPart", "CopyObject", "CopyObjectPart"),
    "storage_get_requests": ("GetObject",),
    "storage_head_requests": ("HeadObject", "HeadBucket"),
    "storage_list_requests": ("ListObjectsV1", "ListObjectsV2", "ListObjects"),
}
"""Requests that are counted separately; all others count as ``storage_requests`` only."""


def counters(minio: MinioServer) -> dict[str, float]:
    """Return the requests and bytes of a bucket, as MinIO counts them."""
    metrics = minio.metrics()
    requests = [(labels.get("name", ""), value) for labels, value in metrics.get(REQUESTS, [])]
    found = {"storage_requests": sum(value for _, value in requests)}
    for kind, names in KINDS.items():
        lowered = {name.lower() for name in names}
        found[kind] = sum(value for name, value in requests if name.lower() in lowered)
    found["storage_bucket_read_bytes"] = sum(value for _, value in metrics.get(SENT, []))
    found["storage_bucket_write_bytes"] = sum(value for _, value in metrics.get(RECEIVED, []))
    return found if metrics else {}


BUCKET = "benchbook"
MOUNT_SECONDS = 30.0


class MinioS3fs(Storage):
    """A mounted bucket; MinIO's drive and s3fs's cache, open files and keys are next to the mount point."""

    def __init__(self, options: S3fsOptions, place: StoragePlace) -> None:
        super().__init__(place.folder / "data")
        self._options, self._place, self._point = options, place, place.folder
        beside = place.folder.with_name
        self._drive, self._cache, self._temporary, self._keys = (
            beside(f"{place.folder.name}.{part}") for part in ("minio", "cache", "tmp", "keys")
        )
        self._logs = place.logs or beside(f"{place.folder.name}.logs")
        self._minio: MinioServer | None = None
        self._s3fs: spawn.Running | None = None

    def mount(self) -> Path:
        """Start MinIO, create the bucket, mount it; raise Unavailable if a program or FUSE is missing."""
        if not Path("/dev/fuse").exists():
            raise Unavailable(
                "/dev/fuse does not exist, so s3fs cannot mount a bucket.", "Load it with: modprobe fuse"
            )
        point = mounting.empty_folder(self._point)
        mounting.register_mount(
            self._place.mounts, point, (self._drive, self._cache, self._temporary, self._keys), "minio-s3fs"
        )
        self._minio = MinioServer(
            _path(self._place, "minio"), self._drive, self._logs / "minio.log", self._place.processes
        )
        self._minio.start()
        self._minio.s3.make_bucket(BUCKET)
        self._keys.touch(mode=0o600)
        self._keys.write_text(f"{self._minio.s3.access_key}:{self._minio.s3.secret_key}\n")
        self._mount_bucket()
        self.folder.mkdir()
        return self.folder

    def facts(self) -> Facts:
        """Return the facts of the mount, its options, and the facts of the disk below MinIO's drive."""
        versions = {name: program.version for name, program in self._place.programs.items()}
        options = self._mount_options("{url}", "{keys}", "{cache}", "{tmp}")
        below = Storage(self._drive.parent).facts()
        return {**super().facts(), "programs": versions, "s3fs_options": options, "below": below}

    def check(self) -> None:
        """Raise TrialFailed with the end of its log if MinIO or s3fs has died."""
        for one in (self._minio, self._s3fs):
            if one is not None:
                one.check()

    def abandon(self) -> None:
        """Kill s3fs, because it retries requests to a dead MinIO, and a process that waits for it cannot be killed."""
        s3fs = self._s3fs
        if s3fs is not None:
            s3fs.kill()

    def counters(self) -> dict[str, float]:
        """Return the requests and bytes of this mount, as MinIO counts them."""
        return counters(self._minio) if self._minio is not None else {}

    def processes(self) -> list[int]:
        minio = self._minio.processes() if self._minio is not None else []
        return minio + (self._s3fs.tree() if self._s3fs is not None else [])

    def drop_caches(self) -> bool:
        """Mount the bucket again with the caches of s3fs empty, then empty the page cache of the machine."""
        self.check()  # a new s3fs must not replace a dead one unnoticed
        self.sync()
        self._unmount_bucket()
        shutil.rmtree(self._cache, ignore_errors=True)
        Storage(self._drive).sync()  # unmounting uploads what s3fs still holds
        dropped = drop_page_cache(self._drive / BUCKET)
        self._mount_bucket()
        return dropped

    def cached_bytes(self) -> int | None:
        """Return None: opening files of the mount requests them from MinIO and drops their pages."""
        return None

    def bytes(self) -> int:
        """Return the bytes of the bucket on MinIO's drive, which the mount does not report."""
        return allocated(self._drive / BUCKET)

    def unmount(self) -> None:
        """Unmount the bucket, stop MinIO, remove everything."""
        self._unmount_bucket()
        if self._minio is not None:
            self._minio.stop()
            self._minio = None
        if mounting.mounted(self._point):
            return  # its record stays, for the next start
        for folder in (self._point, self._drive, self._cache, self._temporary):
            shutil.rmtree(folder, ignore_errors=True)
        self._keys.unlink(missing_ok=True)
        mounting.unregister_mount(self._place.mounts, self._point)

    def _mount_bucket(self) -> None:
        assert self._minio is not None
        if self._options.disk_cache:
            self._cache.mkdir(exist_ok=True)
        self._temporary.mkdir(exist_ok=True)
        options = self._mount_options(
            self._minio.s3.url, str(self._keys), str(self._cache), str(self._temporary)
        )
        self._s3fs = spawn.start(
            [_path(self._place, "s3fs"), BUCKET, self._point, "-f", "-o", ",".join(options)],
            name="s3fs",
            log=self._logs / "s3fs.log",
            registry=self._place.processes,
        )

        def mounted() -> bool:
            self.check()
            return mounting.mounted(self._point)

        if not until(mounted, MOUNT_SECONDS, pause=0.01):
            raise TrialFailed(
                f"s3fs did not mount the bucket within {MOUNT_SECONDS:.0f} s. "
                f"The end of its log: {spawn.log_end(self._logs / 's3fs.log')}"
            )

    def _unmount_bucket(self) -> None:
        """Unmount, which uploads what s3fs still buffers; unmount a dead s3fs by force."""
        if self._s3fs is None:
            return
        try:
            self.check()
        except TrialFailed:
            self.abandon()
        # From here on the end of s3fs is no failure, because unmounting ends it.
        s3fs, self._s3fs = self._s3fs, None
        mounting.unmount(self._point)
        s3fs.stop(first=None)

    def _mount_options(self, url: str, keys: str, cache: str, temporary: str) -> list[str]:
        chosen = self._options
        found = [
            f"url={url}",
            f"passwd_file={keys}",
            "use_path_request_style",
            "endpoint=us-east-1",
            f"parallel_count={chosen.parallel_count}",
            f"multipart_size={chosen.multipart_size_mib}",
            f"max_stat_cache_size={chosen.stat_cache_entries}",
            f"retries={chosen.request_retries}",
            # For open files until they are uploaded; the default, /tmp, may be in memory.
            f"tmpdir={temporary}",
        ]
        return [*found, f"use_cache={cache}"] if chosen.disk_cache else found


def driver(options: S3fsOptions, place: StoragePlace) -> MinioS3fs:
    """Return a mounted bucket for one trial."""
    return MinioS3fs(options, place)


def _path(place: StoragePlace, name: str) -> Path:
    program = place.programs[name]
    if program.path is None or program.isolated:
        what = "an image" if program.isolated else "a running server"
        raise Unavailable(
            f"--system {name}=…: minio-s3fs always starts its own {name}, so it cannot use {what}.",
            "Give the path of the program.",
        )
    return program.path
