"""Find and execute the command that repeats a run at its exact revision."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchbook.declare.checkout import PROJECT_VARIABLE, is_apart, root
from benchbook.declare.names import is_name, shown
from benchbook.errors import RequestError, command
from benchbook.record.argv import parts, without

NIX_VARIABLE = "BENCHBOOK_NIX"
"""Names a program to use in place of ``nix``; the stand-in for nixpkgs sets it to itself."""

STALE_VARIABLES = (
    "BENCHBOOK_NIX_SYSTEMS", "BENCHBOOK_NIX_INPUTS", "BENCHBOOK_NIX_PROJECT", "BENCHBOOK_COMMAND", "PYTHONPATH",
)  # fmt: skip
"""Variables from this revision's front end that another revision must not inherit."""


COMMANDS = ("run", "aa")
"""The commands that make a run."""

NEEDED = ("experiment", "profile", "order_seed", "argv", "provenance")
"""Keys of ``run.json`` that a rerun needs."""

OWN_EXIT_CODES = (0, 2, 3, 4, 130)
"""Exit codes of ``bench run``; any other one means that Nix failed before."""


_REVISION = re.compile(r"[0-9a-f]{7,64}")
"""Anything else is an expression of Git or Nix, or of the shell that a user types the command into."""


@dataclass(frozen=True)
class Rerun:
    """The command that repeats a run."""

    command: list[str]
    """With Nix if ``nix`` is available, else a shell command."""
    executable: bool
    """True if Benchbook can execute ``command``; without Nix, users run it themselves."""
    revision: str
    dirty: bool
    """True if the checkout of the run had uncommitted changes, so that its revision is another program."""
    by_hand: str
    """The shell command that does not need Nix."""

    @property
    def elsewhere(self) -> bool:
        """True if the command contains a folder of another machine, whose name the publication removed."""
        return "…/" in self.by_hand

    def shown(self) -> str:
        """Return the command as users type it."""
        return shlex.join(self.command) if self.executable else self.by_hand

    def execute(self) -> int:
        """Execute the command and return its exit code; raise OSError if it cannot start.

        The command handles Ctrl-C and SIGTERM: it ends its run in order, and then this process ends.
        """
        around = {name: value for name, value in os.environ.items() if name not in STALE_VARIABLES}
        child = subprocess.Popen(self.command, env={**around, "BENCHBOOK_NIX_REVISION": self.revision})
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        code = child.wait()
        return code if code >= 0 else 128 - code


def rerun(
    run: dict[str, Any],
    flake: str | None,
    options: list[str],
    programs: Mapping[str, str | None] | None = None,
) -> Rerun:
    """Return the command that repeats the run of a ``run.json``, with ``options`` added.

    ``programs`` replaces the values of ``--system NAME=VALUE``; None leaves the option out.
    ``flake`` names the source (``github:owner/name`` or a Git URL of Nix); by default it is a local Git checkout.
    Raises RequestError if ``run.json`` lacks a key, or if the revision is unknown or not in a checkout.
    """
    require_whole(run)
    provenance = of_declarations(run["provenance"])
    revision = provenance.get("git_revision")
    if not revision:
        today = shlex.join(arguments(run, None))
        raise RequestError(
            f"{run['run_id']} has no revision: {provenance.get('git_detail') or 'it was unknown'}.",
            f"With today's declarations, this runs the same order: {command('run')} {today}",
        )
    if not isinstance(revision, str) or not _REVISION.fullmatch(revision):
        raise RequestError(
            f"The run.json of {run['run_id']}: git_revision is {shown(revision)}, but a revision is a hexadecimal"
            " number.",
            "Use the unchanged run.json from the folder of the run, and trust no other.",
        )
    does, given = made_by(run["argv"])
    asked = [*with_programs(arguments(run, given), programs or {}), *options]
    if odd := next((word for word in asked if not word.isprintable()), None):
        raise RequestError(
            f"The run.json of {run['run_id']}: argv has control characters, in {shown(odd)}.",
            "Use the unchanged run.json from the folder of the run, and trust no other.",
        )
    typed = shlex.join([does, *asked])
    dirty = bool(provenance.get("git_dirty"))
    if provenance is not run["provenance"]:
        return _of_project(run, provenance, revision, [does, *asked], dirty)
    if is_apart():
        raise RequestError(
            f"{run['run_id']} is a run of Benchbook itself, and the declarations of the project {root()} would take"
            " part in its repetition.",
            "Change to a folder outside of the project, and give the command there.",
        )
    nix = _nix_here()
    if nix and flake:
        in_a_clone = f"git checkout --detach {revision} && ./bench {typed}"
        return Rerun([*_nix(nix), *_at(flake, revision, does), *asked], True, revision, dirty, in_a_clone)
    checkout = _checkout(revision)
    folder = f"benchbook-{revision[:12]}"
    by_hand = (
        f"git -C {shlex.quote(str(checkout))} worktree add --detach ../{folder} {revision} && "  # both are hexadecimal
        f"{shlex.quote(str(checkout.parent / folder / 'bench'))} {typed}"
    )
    if nix and _has(checkout, f"{revision}:flake.nix"):
        source = _at(f"git+file://{quote(str(checkout))}", revision, does)
        return Rerun([*_nix(nix), *source, *asked], True, revision, dirty, by_hand)
    return Rerun(["sh", "-c", by_hand], False, revision, dirty, by_hand)


def of_declarations(provenance: dict[str, Any]) -> dict[str, Any]:
    """Return what states the revision of a run's declarations: the facts of its project, or else those of Benchbook."""
    project = provenance.get("project")
    return project if isinstance(project, dict) else provenance


def _of_project(
    run: dict[str, Any], project: dict[str, Any], revision: str, words: list[str], dirty: bool
) -> Rerun:
    """Return the command that repeats a run of a project at its revision.

    If the project's flake made the run, and Nix is here, it is the flake of that revision, with the Benchbook and the
    systems that its lock pins; else the Benchbook that is here.
    """
    name, prefix = project.get("name"), project.get("git_prefix") or ""
    if not is_name(name):
        raise RequestError(
            f"The run.json names the project {shown(name)}, which is not a name.",
            "Use the unchanged run.json from the folder of the run, and trust no other.",
        )
    checkout = _checkout(revision)
    if not (isinstance(prefix, str) and prefix.isprintable() and _leads_down(prefix)):
        raise RequestError(
            f"The run.json has the project {name} in {shown(prefix)}, which is not a folder of a checkout.",
            "Use the unchanged run.json from the folder of the run, and trust no other.",
        )
    folder = f"{name}-{revision[:12]}"
    place = shlex.quote(str(checkout.parent / folder / prefix))
    nix = _nix_here()
    if nix and run["provenance"].get("nix") and _has(checkout, f"{revision}:{prefix}flake.nix"):
        does, *asked = words
        app, *rest = _app(does)
        start = f"cd {place} && {shlex.join([*_nix(nix), f'.#{app}', *rest, *asked])}"
    else:
        start = f"{PROJECT_VARIABLE}={place} {command(shlex.join(words))}"
    by_hand = f"git -C {shlex.quote(str(checkout))} worktree add --detach ../{folder} {revision} && {start}"
    return Rerun(["sh", "-c", by_hand], False, revision, dirty, by_hand)


def _leads_down(path: str) -> bool:
    """Return whether a path leads from a folder to nowhere else than to it or below it."""
    return not Path(path).is_absolute() and ".." not in Path(path).parts


def require_whole(run: dict[str, Any]) -> None:
    """Raise RequestError if a ``run.json`` lacks what a rerun needs."""
    kinds = {"argv": list, "provenance": dict}
    lacking = [
        key for key in NEEDED if run.get(key) is None or not isinstance(run[key], kinds.get(key, object))
    ]
    if lacking:
        raise RequestError(
            f"The run.json of {run.get('run_id')} lacks {', '.join(lacking)}.",
            "Use the unchanged run.json from the folder of the run, or from its folder in reports/data.",
        )


def given_to(option: str, words: list[str]) -> dict[str, str]:
    """Return what the words of a command give to an option ``NAME=VALUE``, by its name.

    >>> given_to("--system", ["x", "--system", "a=/b", "--system=c=d=e", "--set", "system=a"])
    {'a': '/b', 'c': 'd=e'}
    """
    found = (one.value.partition("=") for one in parts(words, [option]) if one.option)
    return {name: value for name, _, value in found}


def with_programs(words: list[str], programs: Mapping[str, str | None]) -> list[str]:
    """Return the words of a command with other programs, and without the origins of those that they replace.

    >>> with_programs(["x", "--system", "a=…/b", "--origin=a=image b:1", "--system=c=…/d"], {"a": "/b", "c": None})
    ['x', '--system', 'a=/b']
    """
    kept: list[str] = []
    for one in parts(words, ("--system", "--origin")):
        name = one.value.partition("=")[0]
        if not one.option or name not in programs:
            kept += one.words
        elif one.option == "--system" and programs[name] is not None:
            kept += [one.option, f"{name}={programs[name]}"]
    return kept


def made_by(argv: list[Any]) -> tuple[str, list[str] | None]:
    """Return the command that made a run, and the arguments after it; ``("run", None)`` for other commands.

    >>> made_by(["aa", "quickstart"]), made_by(["resume"])
    (('aa', ['quickstart']), ('run', None))
    """
    words = [str(word) for word in argv]
    place = next((place for place, word in enumerate(words) if word in COMMANDS), None)
    return ("run", None) if place is None else (words[place], words[place + 1 :])


def arguments(run: dict[str, Any], given: list[str] | None) -> list[str]:
    """Return the arguments of a run with its order seed and without its results folder.

    ``given`` are the arguments of the command that made the run; None uses experiment and profile of its plan.
    """
    words = [str(run["experiment"]), "--profile", str(run["profile"])] if given is None else given
    kept = without(words, "--results")
    if not any(word.startswith("--order-seed") for word in kept):
        kept += ["--order-seed", str(run["order_seed"])]
    return kept


def _nix_here() -> str | None:
    return os.environ.get(NIX_VARIABLE) or shutil.which("nix")


def _nix(program: str) -> list[str]:
    flakes = ["--extra-experimental-features", "nix-command flakes"]
    return [program, "run"] if os.environ.get(NIX_VARIABLE) else [program, "run", *flakes]


def _app(does: str) -> list[str]:
    """Return the app and its first arguments: the app ``experiment`` for ``run``, else the app for any command."""
    return ["experiment", "--"] if does == "run" else ["benchbook", "--", does]


def _at(flake: str, revision: str, does: str) -> list[str]:
    """Return the arguments of ``nix run`` for a flake at a revision."""
    app = _app(does)
    if flake.startswith(("github:", "gitlab:", "sourcehut:")):
        return [f"{flake.rstrip('/')}/{revision}#{app[0]}", *app[1:]]
    joint = "&" if "?" in flake else "?"
    return [f"{flake}{joint}rev={revision}#{app[0]}", *app[1:]]


def _checkout(revision: str) -> Path:
    """Return a Git checkout with the revision: that of the working directory, else that of the declarations."""
    for folder in (Path.cwd(), root()):
        top = _git(folder, "rev-parse", "--show-toplevel")
        if top and _has(Path(top), f"{revision}^{{commit}}"):
            return Path(top)
    raise RequestError(
        f"No local Git checkout has the revision {revision} of this run.",
        f"Fetch it into a clone of its repository, and run the command there: git fetch REPOSITORY {revision}\n"
        "  With Nix, you can instead name a repository that has it: --flake github:OWNER/NAME",
    )


def _has(checkout: Path, thing: str) -> bool:
    return _git(checkout, "cat-file", "-e", thing) is not None


def _git(folder: Path, *words: str) -> str | None:
    """Return the output of git; None if it fails or is not installed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], env=environment, capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
