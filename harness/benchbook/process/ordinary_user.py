"""The ordinary user that a server runs as which refuses to run as root (PostgreSQL, Elasticsearch).

Where the harness itself is an ordinary user nothing changes. As root, ``setpriv`` starts the server as a user
without rights, and the folders that it writes are given to that user. ``setpriv`` keeps the order to die with
the harness, which the kernel forgets when a process changes its user.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbook.errors import TrialFailed


@dataclass(frozen=True)
class OrdinaryUser:
    """A user without rights, or the harness's own user where that is none of root's."""

    name: str
    uid: int
    gid: int
    setpriv: str | None
    """Path of ``setpriv`` where the user has to be changed."""

    def command(self, command: Sequence[str | Path]) -> list[str | Path]:
        """Return the command that runs ``command`` as this user."""
        if self.setpriv is None:
            return list(command)
        change = [f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups", "--pdeathsig=keep"]
        return [self.setpriv, *change, "--", *command]

    def own(self, *paths: Path) -> None:
        """Give folders, with what is in them, to this user; raise TrialFailed where it could not reach them."""
        if self.setpriv is None:
            return
        for path in paths:
            for parent in path.resolve().parents:
                if not self._may_enter(parent):
                    raise TrialFailed(
                        f"{parent} may not be entered by the user {self.name}, as which the server runs, and "
                        f"its folder {path} is below it.",
                        f"Name another folder with --results, or permit it with: chmod o+x {parent}",
                    )
            os.chown(path, self.uid, self.gid)
            for folder, folders, files in os.walk(path):
                for name in (*folders, *files):
                    os.chown(Path(folder, name), self.uid, self.gid, follow_symlinks=False)

    def _may_enter(self, folder: Path) -> bool:
        status = folder.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode & stat.S_IXUSR)
        if status.st_gid == self.gid:
            return bool(status.st_mode & stat.S_IXGRP)
        return bool(status.st_mode & stat.S_IXOTH)


def ordinary_user(*wanted: str) -> OrdinaryUser:
    """Return the harness's own user; for root, the first of ``wanted`` that there is, else ``nobody``."""
    if os.geteuid() != 0:
        return OrdinaryUser(str(os.geteuid()), os.geteuid(), os.getegid(), None)
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise TrialFailed(
            "The server does not run as root, and setpriv, which would start it as another user, is not on PATH.",
            "Get it with: apt-get install util-linux  (or run Benchbook as an ordinary user)",
        )
    for name in (*wanted, "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return OrdinaryUser(name, found.pw_uid, found.pw_gid, setpriv)
    raise TrialFailed(
        f"The server does not run as root, and there is none of the users {', '.join((*wanted, 'nobody'))}.",
        "Run Benchbook as an ordinary user.",
    )
