"""Storages: where a system keeps its files. File: ``storage/<name>.toml``."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from benchbook.declare.level import Setting
from benchbook.declare.toml import Model, Name, Positive, Text, check
from benchbook.errors import suggestion

LEAST_XFS_MIB = 300


class NoOptions(Model):
    """Options of ``local``: none."""


class SizedOptions(Model):
    """Options of ``tmpfs``, which each trial creates."""

    size_mib: Positive = 4096
    """Capacity in MiB; the storage occupies only what is written to it."""


class LoopOptions(SizedOptions):
    """Options of ``loop``, which each trial creates."""

    file_system: Literal["ext4", "ext3", "xfs"] = "ext4"
    """Its file system. XFS takes at least 300 MiB."""

    @model_validator(mode="after")
    def _large_enough(self) -> Self:
        if self.file_system == "xfs" and self.size_mib < LEAST_XFS_MIB:
            raise ValueError(f"size_mib = {self.size_mib}: XFS takes at least {LEAST_XFS_MIB} MiB")
        return self


class DisksOptions(Model):
    """Options of ``loop_disks``."""

    disks: Annotated[int, Field(ge=1, le=16)] = 2
    """Number of file systems, each on a separate loop device."""
    size_mib: Positive = 2048
    """Capacity of each file system in MiB; it occupies only what is written to it."""
    writes_per_second: Positive | None = None
    """Most writes per second that the system may send to each device; none by default. It replaces separate
    disks where all devices are files on one disk."""


class S3fsOptions(Model):
    """Options of ``minio_s3fs``: how s3fs mounts the bucket. The defaults are those of s3fs."""

    disk_cache: bool = False
    """True if s3fs caches whole objects in a folder on the local disk (``use_cache``)."""
    parallel_count: Annotated[int, Field(ge=1, le=256)] = 5
    """Parts of a large object that s3fs transfers at once."""
    multipart_size_mib: Annotated[int, Field(ge=5, le=5120)] = 10
    """Size of a part of a large object, in MiB."""
    stat_cache_entries: Positive = 100_000
    """Number of objects whose attributes s3fs caches (``max_stat_cache_size``)."""
    request_retries: Annotated[int, Field(ge=1, le=100)] = 5
    """Number of times that s3fs retries a failed request (``retries``)."""


StorageOptions = NoOptions | SizedOptions | DisksOptions | S3fsOptions

OPTIONS: dict[str, type[StorageOptions]] = {
    "local": NoOptions,
    "tmpfs": SizedOptions,
    "loop": LoopOptions,
    "loop_disks": DisksOptions,
    "minio_s3fs": S3fsOptions,
}
"""Option model of each storage driver; a new driver adds an entry and a module in ``benchbook/storage``."""


class Storage(Model):
    """The place of a system's files: local disk, tmpfs, a loop device, a mounted bucket."""

    name: Name
    """Name of the storage; the file is ``<name>.toml``."""
    title: Text
    """Title in reports."""
    driver: Name
    """Module under ``benchbook/storage/``."""
    programs: list[Name] = Field(default_factory=list)
    """Pinned systems (``systems/*.toml``) that the storage runs, such as the object store behind a mount."""
    options: dict[str, Setting] = Field(default_factory=dict)
    """Options of the driver; a factor of the same name replaces an option."""

    @field_validator("driver")
    @classmethod
    def _known(cls, driver: str) -> str:
        if driver not in OPTIONS:
            raise ValueError(
                f"there is no storage driver {driver}; allowed: {', '.join(OPTIONS)}{suggestion(driver, OPTIONS)}"
            )
        return driver

    def typed(self, levels: dict[str, Any] | None = None) -> StorageOptions:
        """Return the checked options, with those among ``levels`` replaced; raise RequestError for a wrong one."""
        model = OPTIONS[self.driver]
        replaced = {name: level for name, level in (levels or {}).items() if name in model.model_fields}
        return check({**self.options, **replaced}, model, f'options of the storage "{self.name}"')
