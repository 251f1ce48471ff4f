"""Scratch folders of harnesses, and a registry of the runs on this machine."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchbook.errors import RequestError
from benchbook.host import guarded
from benchbook.host.identity import name_of

ANNOUNCED = "benchbook-run"
"""Begin of the name of the socket with which a harness announces its run."""
_ANNOUNCEMENT = re.compile(rb"@" + ANNOUNCED.encode() + rb"/(\d{1,10})/([A-Za-z0-9._-]{1,64})$")
_SOCKETS = Path("/proc/net/unix")
_OWN_NAME = re.compile(r"(?![0-9]{4}-[0-9]{1,4}$)([1-9][0-9]{0,9})-[0-9]{1,20}(?:\.[0-9]{2})?")
"""Name of a scratch folder: the id and the start of its process; no month or years, such as 2026-11."""
MOST_NEIGHBOURS = 20
"""Number of other runs that are named: anyone can announce any number of them."""


@dataclass(frozen=True)
class Neighbour:
    """Another harness that carries out a run on this machine now."""

    run_id: str
    pid: int


@contextlib.contextmanager
def announced(run_id: str) -> Iterator[None]:
    """Announce to all users of this machine that this process carries out a run in the ``with`` block; never raise.

    Two runs on one machine disturb each other, so each trial records how many others there were. The announcement is
    the name of a Unix socket that is no file (Linux only). The kernel lists such names to every user and removes one
    with its process. So nobody can block or falsify a file that others read, and a killed harness leaves nothing.
    """
    with contextlib.ExitStack() as held:
        if sys.platform == "linux":
            with contextlib.suppress(OSError):  # somebody else holds the name
                held.enter_context(socket.socket(socket.AF_UNIX)).bind(_name_of(run_id))
        yield


def neighbours() -> list[Neighbour]:
    """Return the other harnesses that carry out a run on this machine; never raise."""
    found: list[Neighbour] = []
    with contextlib.suppress(OSError), _SOCKETS.open("rb") as names:
        for line in names:
            named = _ANNOUNCEMENT.search(line.rstrip(b"\n"))
            if named is not None and int(named[1]) != os.getpid() and len(found) < MOST_NEIGHBOURS:
                found.append(Neighbour(named[2].decode(), int(named[1])))
    return sorted(found, key=lambda one: (one.pid, one.run_id))


def _name_of(run_id: str) -> str:
    """Return the name of the socket: the kernel takes 107 bytes, and the first is 0 for one that is no file."""
    return f"\0{ANNOUNCED}/{os.getpid()}/{run_id[:64]}"


def neighbours_note(found: list[Neighbour]) -> str:
    """Return a note about other runs for the user."""
    named = ", ".join(f"{one.run_id} (pid {one.pid})" for one in found)
    return f"another run is active on this machine: {named}; the runs disturb each other, and each trial records that"


@contextmanager
def scratch_folder(results: Path) -> Iterator[Path]:
    """Create a scratch folder for this process and remove it at the end."""
    folder = _folder(results) / name_of(os.getpid())
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:  # some servers then run as another user, whatever the umask is
        for own in (folder.parent, folder):
            own.chmod(own.stat().st_mode | 0o011)
    try:
        yield folder
    finally:
        guarded.remove_tree(folder)


def sweep_scratch(results: Path) -> None:
    """Remove the scratch folders of dead harnesses of this user, and nothing else."""
    for folder in _folder(results).glob("*"):
        named = _OWN_NAME.fullmatch(folder.name)
        if named is not None and folder.name != name_of(int(named[1])) and _is_own(folder):
            guarded.remove_tree(folder)


def require_no_links(results: Path) -> None:
    """Raise RequestError if a folder in which harnesses keep what they remove later is a link to another place."""
    for name in ("scratch", "processes", "mounts"):
        if guarded.is_link(results / name):
            raise RequestError(
                f"{results / name} is a link, not a folder. Nothing was changed: Benchbook removes files there.",
                "Remove the link, or name another folder with --results DIR.",
            )


def _is_own(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _folder(results: Path) -> Path:
    require_no_links(results)
    return results / "scratch"
