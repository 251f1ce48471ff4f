"""When CnosDB is settled, and how it is brought there.

**2.4**: ``COMPACT DATABASE`` (before 2.4.3 ``COMPACT VNODE``) writes the caches of all its vnodes out before it
answers, and merges files where there are enough of them. Merges that run on their own go on; so the data
folder is watched until no file has come, gone or grown for REST_SECONDS.

**2.0** has no such statement: a cache is written out when it has filled up several times, else never, and
what is not written out is in the write-ahead log. There, settled means only that the data folder rests.
Bytes of data and of the log are therefore always told apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from benchbook.errors import TrialFailed

SETTLE_SECONDS = 900.0
"""How long files may change after a load before the trial fails."""
REST_SECONDS = 2.0
"""How long no file may have changed."""

Files = dict[str, tuple[int, int]]


def settle(data: Path | None, write_out: Callable[[], None] | None) -> float:
    """Return when the server is settled; the result is for how many seconds it was only watched resting.

    ``write_out`` makes it write its caches out, where it can. Without a folder (a server elsewhere) nothing is
    watched. Raises TrialFailed after SETTLE_SECONDS.
    """
    if write_out is not None:
        write_out()
    if data is None:
        return 0.0
    deadline = time.monotonic() + SETTLE_SECONDS
    seen, since = files(data), time.monotonic()
    while time.monotonic() - since < REST_SECONDS:
        if time.monotonic() > deadline:
            raise TrialFailed(
                f"CnosDB did not settle in {SETTLE_SECONDS:.0f} s: files in {data} still change."
            )
        time.sleep(0.1)
        now = files(data)
        if now != seen:
            seen, since = now, time.monotonic()
    return time.monotonic() - since


def files(folder: Path) -> Files:
    """Return the size and the time of change of every file of data and index below a folder."""
    found: Files = {}
    for path in folder.rglob("*"):
        try:
            stat = path.stat()
        except OSError:
            continue  # gone between the listing and the look
        if path.is_file():
            found[str(path)] = stat.st_size, stat.st_mtime_ns
    return found
