"""A storage: where a system keeps its files. File: ``storage/<name>.toml``."""

from __future__ import annotations

from pydantic import Field

from benchbook.declare.model import Model, Name, Setting, Text


class Storage(Model):
    """Where a system keeps its files: local disk, tmpfs, a loop device, a mounted bucket."""

    name: Name
    title: Text
    driver: Name
    """Module under ``benchbook/storage/``."""
    options: dict[str, Setting] = Field(default_factory=dict)
