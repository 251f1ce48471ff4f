"""``bench run X --again``: another run with the options of the published one."""

from __future__ import annotations

from typing import Any

import typer

from benchbook.declare.catalogue import root
from benchbook.errors import RequestError
from benchbook.errors import command as typed
from benchbook.record import folder, ledger
from benchbook.record.rerun import made_by

SETTLED = ("profile", "sets", "trials", "until_decided", "budget", "no_aa")
"""Parameters of ``bench run`` that a published run settles."""


def options(slug: str, context: typer.Context) -> dict[str, Any]:
    """Return the value of each parameter of ``SETTLED``, as the latest published run of an experiment had it.

    Raises RequestError if there is no such run, or if the user gave one of these parameters too.
    """
    for name in SETTLED:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            flag = next(one.opts[0] for one in context.command.params if one.name == name)
            raise RequestError(
                f"{flag} cannot be combined with --again, which takes it from the published run.",
                f"Leave out {flag} or --again.",
            )
    held, _ = ledger.entries(root() / ledger.DATA / slug)
    shown = ledger.shown([one for one in held if one.export.machine is None])
    if shown is None:
        raise RequestError(
            f"{slug} has no published run whose options --again could take.",
            f"Begin without it: {typed(f'run {slug}')}",
        )
    argv = folder.read_object(shown.export.folder / folder.RUN_FILE).get("argv") or []
    does, given = made_by(argv)
    if does != "run" or given is None:
        given = [slug, "--profile", shown.export.profile]
    # The program itself parses what it was given, without carrying anything out.
    parsed = context.command.make_context("run", [*given], resilient_parsing=True)
    found = {name: parsed.params[name] for name in SETTLED}
    return {**found, "sets": [*(found["sets"] or ())] or None}  # a tuple in older releases of typer
