"""A storage in the folders of one trial, mounted for a test."""

import shutil
from contextlib import contextmanager

import pytest

from benchbook.declare.storage import Storage
from benchbook.errors import Unavailable
from benchbook.storage.driver import StoragePlace
from benchbook.storage.find import storage


def declared(driver, **options):
    return Storage.model_validate({"name": "one", "title": "One", "driver": driver, "options": options})


def place(tmp_path):
    return StoragePlace(tmp_path / "scratch" / "0001", mounts=tmp_path / "mounts")


@contextmanager
def mounted(tmp_path, driver, **options):
    """Mount a storage and unmount it; skip the test with the reason if this machine cannot."""
    make = f"mkfs.{options.get('file_system', 'ext4')}"
    if driver.startswith("loop") and not shutil.which(make):
        pytest.skip(f"{make} is not on PATH (Debian: e2fsprogs, xfsprogs)")
    made = storage(declared(driver, **options), place(tmp_path))
    try:
        made.mount()
    except Unavailable as reason:
        made.unmount()
        pytest.skip(f"mount: {reason.message}")
    yield made
    made.unmount()
