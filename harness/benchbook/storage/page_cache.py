"""Measure how much of a folder's files is in the kernel's page cache."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_PAGE = mmap.PAGESIZE


def resident(folder: Path) -> int:
    """Return how many bytes of the files under ``folder`` are in memory, without reading them.

    Files that vanish during the check, or may not be opened, are ignored.
    """
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += _of_file(os.path.join(place, name))  # noqa: PTH118 - a Path for each file is slow
            except (OSError, ValueError):
                continue
    return total


def _of_file(path: str) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        # ctypes only gives the address of a writable mapping; it is private, and no page is touched.
        mapped = mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY)
    finally:
        os.close(descriptor)
    first = ctypes.c_char.from_buffer(mapped)
    try:
        size = len(mapped)
        pages = (ctypes.c_ubyte * -(-size // _PAGE))()
        address = ctypes.c_void_p(ctypes.addressof(first))
        if _LIBC.mincore(address, ctypes.c_size_t(size), pages) != 0:
            raise OSError(ctypes.get_errno(), "mincore")
        return min(size, sum(1 for page in bytes(pages) if page & 1) * _PAGE)
    finally:
        del first
        mapped.close()
