"""``bench benchload …``: start benchload from Nix or pip installations; ``./bench`` starts it without Python."""

from __future__ import annotations

import os

import typer

CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def command(context: typer.Context) -> None:
    """Start benchload, the load generator. ``--source`` prints the folder of its Go module instead."""
    from benchbook.process.spawn import find_benchload
    from benchbook.provision.client import source

    if context.args == ["--source"]:
        print(source())
        return
    binary = find_benchload()
    os.execv(binary, [str(binary), *context.args])
