"""The mark in the environment of a program that a harness started, which all its descendants inherit."""

from __future__ import annotations

import os
import re
import sys

from benchbook.host.identity import identity, process_space
from benchbook.measure.usage import contents

VARIABLE = "BENCHBOOK_STARTED_BY"
"""Variable with the mark: ``BOOT/PROCESS_SPACE/PID/TICKS/NUMBER`` of the harness and of the start."""
_MARK = re.compile(r"([0-9a-f-]{0,36})/([0-9]{1,20})/([1-9][0-9]{0,9})/([0-9.]{1,24})/[0-9]{1,20}")
"""Anyone may put anything into the environment of a process, so no number is longer than a harness writes it."""


def mark_of(pid: int) -> str:
    """Return the mark in the environment of a process; empty if it has none or is not ours to read."""
    if sys.platform != "linux":
        import psutil

        try:
            return str(psutil.Process(pid).environ().get(VARIABLE, ""))
        except (psutil.Error, OSError):
            return ""
    try:
        variables = contents(f"/proc/{pid}/environ").split(b"\0")
    except OSError:
        return ""
    begin = f"{VARIABLE}=".encode()
    return next(
        (one[len(begin) :].decode(errors="replace") for one in variables if one.startswith(begin)), ""
    )


def is_orphan(pid: int) -> bool:
    """Return whether a harness of this user that is dead now started a process or its ancestor; never raise.

    Processes of other users are none of ours, except for root, whose servers run as other users.
    """
    if os.geteuid() != 0 and not _is_own(pid):
        return False
    found = _MARK.fullmatch(mark_of(pid))
    if found is None:
        return False
    boot, space, owner, ticks = found.groups()
    own_boot = (identity(os.getpid()) or "").rpartition(":")[0]
    if (boot, space) != (own_boot, str(process_space())):
        return False
    return identity(int(owner)) != (f"{boot}:{ticks}" if boot else ticks)


def _is_own(pid: int) -> bool:
    if sys.platform != "linux":
        return True  # the environment of other users' processes cannot be read
    try:
        return os.stat(f"/proc/{pid}").st_uid == os.geteuid()  # noqa: PTH116 - called for each process
    except OSError:
        return False
