"""The user for servers that refuse to run as root, such as PostgreSQL and Elasticsearch.

If the harness is an ordinary user, the server runs as that user. If it is root, ``setpriv`` starts the server as an
unprivileged user, who becomes the owner of the folders that the server writes. The kernel clears the parent-death
signal when a process changes its user; ``setpriv`` keeps it.
"""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbook.errors import TrialFailed


@dataclass(frozen=True)
class OrdinaryUser:
    """An unprivileged user: the harness's own, unless that is root."""

    name: str
    uid: int
    gid: int
    setpriv: str | None
    """Path of ``setpriv``; None if the user does not change."""

    def command(self, command: Sequence[str | Path]) -> list[str | Path]:
        """Return the command that runs ``command`` as this user."""
        if self.setpriv is None:
            return list(command)
        change = [f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups", "--pdeathsig=keep"]
        return [self.setpriv, *change, "--", *command]

    def require_entrance(self, path: Path) -> None:
        """Raise TrialFailed if this user may not enter one of the folders above ``path``; name all of them."""
        parents = reversed(path.absolute().resolve().parents)
        closed = [str(parent) for parent in parents if self.setpriv and not self._may_enter(parent)]
        if closed:
            raise TrialFailed(
                f"The server runs as the user {self.name} and needs the folder {path}, but this user may not enter "
                f"{' or '.join(closed)}.",
                f"Name another folder with --results, or run: chmod o+x {shlex.join(closed)}",
            )

    def take_over(self, *paths: Path) -> None:
        """Make this user the owner of folders and their content; raise TrialFailed if it cannot reach one."""
        if self.setpriv is None:
            return
        for path in paths:
            self.require_entrance(path)
            os.chown(path, self.uid, self.gid)
            for folder, folders, files in os.walk(path):
                for name in (*folders, *files):
                    os.chown(Path(folder, name), self.uid, self.gid, follow_symlinks=False)

    def _may_enter(self, folder: Path) -> bool:
        try:
            status = folder.stat()
        except FileNotFoundError:  # the harness creates it later, with its umask
            return True
        if status.st_uid == self.uid:
            return bool(status.st_mode & stat.S_IXUSR)
        if status.st_gid == self.gid:
            return bool(status.st_mode & stat.S_IXGRP)
        return bool(status.st_mode & stat.S_IXOTH)


def ordinary_user(*wanted: str) -> OrdinaryUser:
    """Return the harness's user; for root, the first of ``wanted`` that exists, else ``nobody``."""
    if os.geteuid() != 0:
        return OrdinaryUser(str(os.geteuid()), os.geteuid(), os.getegid(), None)
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise TrialFailed(
            "The server refuses to run as root, and setpriv, which starts it as another user, is not on PATH.",
            "Install it with: apt-get install util-linux  (or run Benchbook as an ordinary user)",
        )
    for name in (*wanted, "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return OrdinaryUser(name, found.pw_uid, found.pw_gid, setpriv)
    raise TrialFailed(
        f"The server refuses to run as root, and none of the users {', '.join((*wanted, 'nobody'))} exists.",
        "Run Benchbook as an ordinary user.",
    )
