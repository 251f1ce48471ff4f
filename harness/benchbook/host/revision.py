"""Which revision of Benchbook runs, as git or the flake tells it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

FLAKE_VARIABLE = "BENCHBOOK_NIX_REVISION"
"""Set by the flake to its revision; one with changes ends in ``-dirty``. There is no .git in the Nix store."""

UNKNOWN_TO_FLAKE = "unknown"
"""What the flake says where Nix tells it no revision."""

OURS = (
    "bench",
    "harness/",
    "systems/",
    "storage/",
    "datasets/",
    "experiments/",
    "reports/",
    "nix/",
    "flake.",
)
"""Where a file that git does not know yet can change what a run does."""

GIT_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True)
class Revision:
    """The revision, None where it is not known, and then why."""

    revision: str | None
    dirty: bool | None
    """Whether what runs differs from it."""
    detail: str = ""


def revision(root: Path) -> Revision:
    """Return the revision of the checkout at ``root``; never raises."""
    flake = os.environ.get(FLAKE_VARIABLE)
    if flake:
        return _of_flake(flake)
    try:
        top, head = _git(root, "rev-parse", "--show-toplevel", "HEAD").splitlines()
        if Path(top).resolve() != root.resolve():
            return Revision(None, None, "the folder is no checkout of its own")
        changes = _git(root, "status", "--porcelain", "--untracked-files=normal").splitlines()
    except FileNotFoundError:
        return Revision(None, None, "git is absent")
    except subprocess.TimeoutExpired:
        return Revision(None, None, f"git did not answer in {GIT_TIMEOUT_SECONDS:g} s")
    except (subprocess.CalledProcessError, OSError, ValueError) as error:
        words = getattr(error, "stderr", "") or str(error)
        return Revision(None, None, _reason(words))
    return Revision(head, any(_counts(line) for line in changes))


def _of_flake(flake: str) -> Revision:
    if flake == UNKNOWN_TO_FLAKE:
        detail = "the flake has none: a copy, a checkout with changes, or one whose inputs were overridden"
        return Revision(None, None, detail)
    return Revision(flake.removesuffix("-dirty"), flake.endswith("-dirty"), "as the flake states it")


def _counts(line: str) -> bool:
    status, path = line[:2], line[3:].strip('"')
    return status != "??" or path.startswith(OURS)


def _reason(words: str) -> str:
    """Return git's reason without the folder's name."""
    if "dubious ownership" in words:
        return "git refuses a checkout that belongs to another user"
    if "not a git repository" in words:
        return "the folder is not a checkout"
    return "git cannot tell the revision"


def _git(root: Path, *arguments: str) -> str:
    # a hook's GIT_DIR would lead to another checkout, and a status that writes would disturb work going on
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        capture_output=True,
        text=True,
        env=environment,
        stdin=subprocess.DEVNULL,
        timeout=GIT_TIMEOUT_SECONDS,
        check=True,
    )
    return done.stdout
