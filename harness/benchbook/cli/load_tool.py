"""``bench benchload …``: the load tool itself (``./bench`` starts it without Python; this is for Nix and pip)."""

from __future__ import annotations

import os

import typer

CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def command(context: typer.Context) -> None:
    """Run the load tool: benchload generate, load, query, null-server, calibrate."""
    from benchbook.process.spawn import find_benchload

    binary = find_benchload()
    os.execv(binary, [str(binary), *context.args])
