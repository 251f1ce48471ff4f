"""A storage: where a system keeps its files. File: ``storage/<name>.toml``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from benchbook.declare.toml import Model, Name, Positive, Setting, Text, check


class NoOptions(Model):
    """The local disk has none."""


class SizedOptions(Model):
    """Options of a storage that is made for the trial: ``tmpfs``, ``loop_ext4``."""

    size_mib: Positive = 4096
    """The most it can hold; both take room only as it is filled."""


class DisksOptions(Model):
    """Options of ``loop_disks``: how many disks, and how large each is."""

    disks: Annotated[int, Field(ge=1, le=16)] = 2
    """File systems of their own, each on a loop device."""
    size_mib: Positive = 2048
    """The most one of them can hold; it takes room only as it is filled."""


class S3fsOptions(Model):
    """Options of ``minio_s3fs``: how s3fs mounts the bucket. The defaults are those of s3fs itself."""

    disk_cache: bool = False
    """Whether s3fs keeps whole objects in a folder on the local disk (``use_cache``)."""
    parallel_count: Annotated[int, Field(ge=1, le=256)] = 5
    """Parts of a large object on their way at once."""
    multipart_size_mib: Annotated[int, Field(ge=5, le=5120)] = 10
    """Size of a part of a large object."""
    stat_cache_entries: Positive = 100_000
    """Objects whose attributes s3fs remembers (``max_stat_cache_size``)."""
    request_retries: Annotated[int, Field(ge=1, le=100)] = 5
    """How often s3fs sends a request that failed (``retries``)."""


StorageOptions = NoOptions | SizedOptions | DisksOptions | S3fsOptions

OPTIONS: dict[str, type[StorageOptions]] = {
    "local": NoOptions,
    "tmpfs": SizedOptions,
    "loop_ext4": SizedOptions,
    "loop_disks": DisksOptions,
    "minio_s3fs": S3fsOptions,
}
"""Option model of each storage driver; a new driver adds one entry and a module in ``benchbook/storage``."""


class Storage(Model):
    """Where a system keeps its files: local disk, tmpfs, a loop device, a mounted bucket."""

    name: Name
    title: Text
    driver: Name
    """Module under ``benchbook/storage/``."""
    programs: list[Name] = Field(default_factory=list)
    """Pinned systems (``systems/*.toml``) that it runs on, such as the store behind a mount."""
    options: dict[str, Setting] = Field(default_factory=dict)

    def typed(self, levels: dict[str, Any] | None = None) -> StorageOptions:
        """Return its options, those among ``levels`` in the place of the declared ones; raise RequestError."""
        model = OPTIONS[self.driver]
        replaced = {name: level for name, level in (levels or {}).items() if name in model.model_fields}
        return check({**self.options, **replaced}, model, f'options of the storage "{self.name}"')
