"""``bench benchload …``: start benchload. ``./bench`` does so without Python; this is for Nix and pip."""

from __future__ import annotations

import os

import typer

CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def command(context: typer.Context) -> None:
    """Start benchload, the load generator."""
    from benchbook.process.spawn import find_benchload

    binary = find_benchload()
    os.execv(binary, [str(binary), *context.args])
