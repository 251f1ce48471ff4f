"""The account that a server runs as: never root, where the harness itself is root."""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import Sequence
from pathlib import Path

from benchbook.errors import TrialFailed

NOBODY = "nobody"


def other_than_root(preferred: Sequence[str] = ()) -> str | None:
    """Return the account that servers are started as: the first that exists; None where we are not root."""
    if os.geteuid() != 0:
        return None
    for name in (*preferred, NOBODY):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    raise TrialFailed(
        f"There is no account to run a server as: none of {', '.join((*preferred, NOBODY))} exists.",
        "Start Benchbook as an ordinary user, or make the account nobody.",
    )


def give(folder: Path, account: str | None) -> None:
    """Make ``folder`` the account's own; raise TrialFailed where it could not reach it."""
    if account is None:
        return
    shutil.chown(folder, user=account, group=pwd.getpwnam(account).pw_gid)
    for parent in folder.resolve().parents:
        if not parent.stat().st_mode & 0o001:
            raise TrialFailed(
                f"{account}, the account that the server runs as, cannot enter {parent}.",
                "Name another folder with --results, or start Benchbook as an ordinary user.",
            )
