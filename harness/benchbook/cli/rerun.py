"""``bench rerun RUN``: repeat a run at the revision that made it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import benchbook
from benchbook.cli import options
from benchbook.errors import RequestError
from benchbook.errors import command as typed
from benchbook.host.terminal import visible

if TYPE_CHECKING:
    from benchbook.provision.again import Again
    from benchbook.record.rerun import Rerun


def command(
    run: options.Run = "latest",
    flake: Annotated[
        str | None,
        typer.Option("--flake", metavar="REF", help="Nix flake with the source; by default this checkout."),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            "--system",
            metavar="NAME=PATH",
            help="The file here that is the program of the system NAME, which the run got by its path. Repeatable.",
        ),
    ] = None,
    only_print: Annotated[bool, typer.Option("--print", help="Only print the command.")] = False,
    results: options.Results = options.DEFAULT_RESULTS,
) -> int:
    """Repeat a run at the revision that made it.

    Prints the command, with the options and the order of the run. Executes it only if Nix is on PATH and you began the
    run on this machine. For any other run, also a published one, read the command and type it.
    If the run got a program by a path that is not here, the command uses the image that the run states as its origin,
    or the declared image or package of the same version, and reports the difference.
    """
    from benchbook.declare.catalogue import Catalogue
    from benchbook.provision import again as provision
    from benchbook.record import seal
    from benchbook.record.opened import facts, is_folder
    from benchbook.record.rerun import given_to, require_whole, rerun

    found = facts(results, run)
    run_id = found["run_id"]
    if "provenance" not in found and not is_folder(run):
        raise RequestError(
            f"The run {run_id} was interrupted before it stored its revision, so it cannot be repeated exactly.",
            f"Finish it first: {typed(f'resume {run_id}')}",
        )
    target = [] if results == Path("results") else ["--results", str(results.absolute())]
    catalogue = Catalogue()
    require_whole(found)
    provided = given_to("--system", [f"--system={text}" for text in system or ()])
    programs = provision.programs(found, provided, catalogue)
    again = rerun(
        found,
        flake,
        target,
        {one.system: one.value for one in programs if one.by not in ("itself", "nothing")},
    )
    print(again.shown(), flush=True)
    for one in programs:
        print(f"bench: {_sentence(one)}", file=sys.stderr)
    for difference in _differences(found):
        print(f"bench: {difference}", file=sys.stderr)
    absent = [one.system for one in programs if one.by == "nothing"]
    revision = again.revision[:12]
    dirty = (
        f"The checkout of {run_id} had uncommitted changes, which its revision {revision} does not contain."
    )
    elsewhere = f"The command contains …, because the publication of {run_id} left out the name of a folder."
    place = Path(run) if is_folder(run) else results / "runs" / run_id
    own = seal.is_own_command(place, found)
    foreign = f"The command is of {run_id}, which you did not begin on this machine, or its run.json has changed since."
    for holds, why, way in (
        (again.executable and not own, foreign, "Read it, and type it yourself if it does what you want."),
        (again.dirty, dirty, "To run the revision without these changes, type the command yourself."),
        (
            bool(absent),
            f"Benchbook knows no image or package with the program of {', '.join(absent)}.",
            f"Provide it: {typed(f'rerun {shlex.quote(run)}')} {' '.join(f'--system {name}=PATH' for name in absent)}",
        ),
        (
            again.elsewhere and not absent,
            elsewhere,
            "Replace … with the folder on this machine, and type the command yourself.",
        ),
    ):
        if holds and only_print:
            print(f"bench: {why}\n  {way}", file=sys.stderr)
        elif holds:
            raise RequestError(f"{why} The command above was not executed.", way)
    if only_print:
        return 0
    if not again.executable:
        why = "it repeats a run of a project" if found["provenance"].get("project") else "nix is not on PATH"
        print(f"bench: {why}, so the command was not executed; type it yourself.", file=sys.stderr)
        return 0
    return _executed(again)


def _executed(again: Rerun) -> int:
    """Execute the command and return its exit code; raise RequestError if no run came of it."""
    from benchbook.record.rerun import OWN_EXIT_CODES

    try:
        code = again.execute()
        failed = f"nix ended with exit code {code}, and nothing was run. Its messages are above."
    except OSError as error:
        code, failed = 127, f"{again.command[0]} cannot be started: {error.strerror or error}."
    if code in OWN_EXIT_CODES:
        return code
    raise RequestError(
        failed, f"To repeat the run without Nix, run this in a clone of Benchbook: {again.by_hand}"
    )


def _differences(run: dict[str, Any]) -> list[str]:
    """Return what is different here from the Benchbook and the plug-ins that made the run of a project."""
    from benchbook.declare import plugin
    from benchbook.host.provenance import source_digest

    stated = run["provenance"]
    if not stated.get("project"):
        return []
    found = []
    if stated.get("source_digest") != source_digest(Path(benchbook.__file__).parent):
        found.append(
            f"another Benchbook made this run, version {_line(stated.get('benchbook_version'))}, revision"
            f" {_line(stated.get('git_revision'))}; its digest differs from the one here"
        )
    then, now = stated.get("plugins") or {}, plugin.digests(str(run["experiment"]))
    if changed := sorted(file for file in {*then, *now} if then.get(file) != now.get(file)):
        shown = ", ".join(_line(file) for file in changed)
        found.append(f"these plug-ins have changed since this run: {shown}")
    return found


LONGEST = 100
"""Characters of a recorded value in a sentence; a digest has 71."""


def _line(value: object) -> str:
    """Return a value of a run from elsewhere as one short line."""
    return " ".join(str(value).split())[:LONGEST]


def _sentence(one: Again) -> str:
    """Return how the rerun gets a program that the run got by its path; what is of ``run.json`` is foreign text."""
    recorded = one.recorded or {}
    known = [f"version {_line(recorded['version'])}"] if recorded.get("version") else []
    known += [f"{recorded['size']:,} bytes"] if isinstance(recorded.get("size"), int) else []
    known += [_line(recorded["digest"])] if recorded.get("digest") else []
    known += [f"origin: {one.origin}"] if one.origin else []
    was = f"{one.system} was a program given by its path ({', '.join(known) or 'nothing is known of it'})"
    image = str(one.value).removeprefix("docker://").partition("?")[0]
    same = f"the same series {one.series}" if one.series else "the same version"
    ways = {
        "itself": "the command uses the same path",
        "user": f"the command uses {one.value}",
        "origin": f"the command uses its origin, the image {image}",
        "image": f"the command uses the image {image} of {same}",
        "source": f"the command uses another source of systems/{one.system}.toml, of {same}",
        "nothing": "it is not on this machine",
    }
    return visible(f"{was}; {ways[one.by]}.")
