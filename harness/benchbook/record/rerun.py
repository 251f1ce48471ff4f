"""Running a run again at its exact revision: the command that does it."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchbook.errors import RequestError, command

NIX_VARIABLE = "BENCHBOOK_NIX"
"""Names a program to use in place of ``nix``; nix/with-stand-in sets it to itself."""

STALE_VARIABLES = ("BENCHBOOK_NIX_SYSTEMS", "BENCHBOOK_NIX_INPUTS", "BENCHBOOK_COMMAND", "PYTHONPATH")
"""What this revision's front end has set and another revision's must not inherit."""


COMMANDS = ("run", "aa")
"""The commands that make a run."""

NEEDED = ("experiment", "profile", "order_seed", "argv", "provenance")
"""What of ``run.json`` it takes to run it again."""

OWN_EXIT_CODES = (0, 2, 3, 4, 130)
"""What ``bench run`` ends with; with any other it was Nix that failed, before it came to that."""


@dataclass(frozen=True)
class Rerun:
    """How to run a run again."""

    command: list[str]
    """By Nix where ``nix`` is there, else the steps by hand as one shell command."""
    executable: bool
    """Whether ``command`` can be executed as it is; without Nix it is for people."""
    revision: str
    dirty: bool
    """Whether the run was made from a checkout with changes, so that its revision alone is another program."""
    by_hand: str
    """The steps that need no Nix, as one shell command."""

    @property
    def elsewhere(self) -> bool:
        """Whether the command names a place of another machine, whose folders were left out of what it published."""
        return "…/" in self.by_hand

    def shown(self) -> str:
        """Return the command as a person types it."""
        return shlex.join(self.command) if self.executable else self.by_hand

    def execute(self) -> int:
        """Execute the command and return its exit code; raise OSError where it cannot be started.

        Ctrl-C and SIGTERM are its own to answer: it ends with its run in order, and this process with it.
        """
        around = {name: value for name, value in os.environ.items() if name not in STALE_VARIABLES}
        child = subprocess.Popen(self.command, env={**around, "BENCHBOOK_NIX_REVISION": self.revision})
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        code = child.wait()
        return code if code >= 0 else 128 - code


def rerun(run: dict[str, Any], flake: str | None, options: list[str]) -> Rerun:
    """Return how to run again what ``run.json`` describes, with ``options`` added; an A/A run as one.

    ``flake`` is where the source is had from (``github:owner/name`` or a Git URL of Nix); by default it is
    the Git checkout at hand. Raises RequestError where ``run.json`` lacks what that takes, and
    where the revision is not known or not at hand.
    """
    lacking = [key for key in NEEDED if run.get(key) is None]
    if lacking:
        raise RequestError(
            f"The run.json of {run.get('run_id')} lacks {', '.join(lacking)}.",
            "Take it as the run wrote it, or as it was published.",
        )
    provenance = run["provenance"]
    revision = provenance.get("git_revision")
    if not revision:
        raise RequestError(
            f"{run['run_id']} was not stored with a revision: {provenance.get('git_detail') or 'none was known'}.",
            f"Compare lock_digest and source_digest of `{command('show')}` with the checkouts you have.",
        )
    does, given = made_by(run["argv"])
    asked = [*arguments(run, given), *options]
    typed = shlex.join([does, *asked])
    dirty = bool(provenance.get("git_dirty"))
    nix = os.environ.get(NIX_VARIABLE) or shutil.which("nix")
    if nix and flake:
        in_a_clone = f"git checkout --detach {revision} && ./bench {typed}"
        return Rerun([*_nix(nix), *_at(flake, revision, does), *asked], True, revision, dirty, in_a_clone)
    checkout = _checkout(revision)
    folder = f"benchbook-{revision[:12]}"
    by_hand = (
        f"git -C {shlex.quote(str(checkout))} worktree add --detach ../{folder} {revision} && "
        f"{shlex.quote(str(checkout.parent / folder / 'bench'))} {typed}"
    )
    if nix and _has(checkout, f"{revision}:flake.nix"):
        source = _at(f"git+file://{quote(str(checkout))}", revision, does)
        return Rerun([*_nix(nix), *source, *asked], True, revision, dirty, by_hand)
    return Rerun(["sh", "-c", by_hand], False, revision, dirty, by_hand)


def made_by(argv: list[Any]) -> tuple[str, list[str] | None]:
    """Return the command of a command line that makes a run, and the words after it; None for them without one.

    >>> made_by(["aa", "quickstart"]), made_by(["resume"])
    (('aa', ['quickstart']), ('run', None))
    """
    words = [str(word) for word in argv]
    place = next((place for place, word in enumerate(words) if word in COMMANDS), None)
    return ("run", None) if place is None else (words[place], words[place + 1 :])


def arguments(run: dict[str, Any], given: list[str] | None) -> list[str]:
    """Return ``given``, the words after the command that made a run, with its order seed, without a results folder.

    Without them they are those of its plan.
    """
    kept: list[str] = []
    words = iter([run["experiment"], "--profile", run["profile"]] if given is None else given)
    for word in words:
        if word == "--results":
            next(words, None)
        elif not word.startswith("--results="):
            kept.append(word)
    if not any(word.startswith("--order-seed") for word in kept):
        kept += ["--order-seed", str(run["order_seed"])]
    return kept


def _nix(program: str) -> list[str]:
    flakes = ["--extra-experimental-features", "nix-command flakes"]
    return [program, "run"] if os.environ.get(NIX_VARIABLE) else [program, "run", *flakes]


def _at(flake: str, revision: str, does: str) -> list[str]:
    """Return the app ``experiment`` of a flake at a revision, or the one that takes any command, with ``does``."""
    app = ["experiment", "--"] if does == "run" else ["benchbook", "--", does]
    if flake.startswith(("github:", "gitlab:", "sourcehut:")):
        return [f"{flake.rstrip('/')}/{revision}#{app[0]}", *app[1:]]
    joint = "&" if "?" in flake else "?"
    return [f"{flake}{joint}rev={revision}#{app[0]}", *app[1:]]


def _checkout(revision: str) -> Path:
    """Return the Git checkout at hand that has the revision: of the working directory, else of the declarations."""
    from benchbook.declare.catalogue import root

    for folder in (Path.cwd(), root()):
        top = _git(folder, "rev-parse", "--show-toplevel")
        if top and _has(Path(top), f"{revision}^{{commit}}"):
            return Path(top)
    raise RequestError(
        f"No Git checkout at hand has the revision {revision} of this run.",
        "Run the command in a clone of Benchbook, or say where its source is with --flake github:OWNER/NAME.",
    )


def _has(checkout: Path, thing: str) -> bool:
    return _git(checkout, "cat-file", "-e", thing) is not None


def _git(folder: Path, *words: str) -> str | None:
    """Return what git prints, None where it fails or is absent."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], env=environment, capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
