"""Whether a storage of a trial is full: its own disk, not that of the results."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from benchbook.errors import TrialFailed

LEAST_BYTES = 1 << 20
LEAST_SHARE = 0.02
"""With less left than either a write of a server may have been refused."""


def words(storage: str, data: Path, results: Path) -> str:
    """Say that the storage of a data folder is full; nothing where it has room, or shares the disk of the results.

    A full disk of the results ends the run, which can be resumed; a full storage is what this trial found.
    """
    try:
        if os.stat(data).st_dev == os.stat(results).st_dev:  # noqa: PTH116 - two calls, no objects
            return ""
        found = shutil.disk_usage(data)
    except OSError:
        return ""
    if found.free >= max(LEAST_BYTES, int(LEAST_SHARE * found.total)):
        return ""
    return f" Its storage {storage} is full: {found.free} of {found.total} bytes are free."


@contextlib.contextmanager
def told(storage: str, data: Path, results: Path) -> Iterator[None]:
    """Turn what the harness itself could not write onto a full storage into the failure of its trial."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT) and (full := words(storage, data, results)):
            raise TrialFailed(f"The data could not be written.{full}") from error
        raise
