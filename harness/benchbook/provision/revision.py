"""Build a program from revisions of the git repository in which the user is, in worktrees of the cache."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from benchbook.errors import RequestError
from benchbook.provision.request import Request, fill_once, last_lines, watched

BUILDS = 2
"""Builds of each revision: two show how much builds of one source differ."""


def commit(flag: str, name: str) -> str:
    """Return the commit of a revision; raise RequestError if the repository has none of this name."""
    found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if found is None:
        raise RequestError(
            f"{flag} {name}: the git repository at {Path.cwd()} has no such revision.",
            "Name a tag, a branch or a commit that is there: git log --oneline",
        )
    return found


def built(revision: str, number: int, command: str, program: str, request: Request) -> Path:
    """Return the program of one build of a commit, from the cache if this build is there."""
    key = hashlib.sha256(f"{Path.cwd()}\0{command}\0{program}".encode()).hexdigest()[:8]
    folder = request.cache_folder() / "revisions" / f"{revision[:12]}-{key}-{number}"
    found = folder / program

    def fill(new: Path) -> None:
        """Check the commit out and build it."""
        if _git("worktree", "add", "--force", "--detach", str(new), revision) is None:
            raise RequestError(f"git cannot check {revision[:12]} out into {new}.", "See: git worktree list")
        log = new.with_name(f"{folder.name}.log")
        step = f"building {revision[:12]}, {number} of {BUILDS}"
        code = watched(["bash", "-c", command], log, request.environment, lambda: step, request, cwd=new)
        if code:
            said = " ".join(last_lines(log, 3))
            raise RequestError(
                f"--build: `{command}` ended with exit code {code} for {revision[:12]}. {said}",
                f"The log is {log}.",
            )
        if not (new / program).is_file():
            raise RequestError(
                f"--program {program}: `{command}` made no such file for {revision[:12]}.",
                "Give its path relative to the top of the repository.",
            )

    if not found.is_file():
        try:
            fill_once(folder, found.is_file, fill, f"the build of {revision[:12]}", request)
        finally:
            _git("worktree", "prune")  # the build moved, and git forgets it
    return found


def _git(*words: str) -> str | None:
    """Return what git prints; None if it fails."""
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None
