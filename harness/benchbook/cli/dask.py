"""``bench dask …``: run Dask's own command line in Benchbook's environment, for schedulers and workers."""

from __future__ import annotations

import os
import sys

import typer

from benchbook.host import extras

CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def command(context: typer.Context) -> None:
    """Start a Dask scheduler or worker, for --cluster.

    For example: dask scheduler; dask worker tcp://HOST:8786 --resources "client=1".
    """
    extras.require(["distributed"], "dask")
    os.execv(sys.executable, [sys.executable, "-P", "-m", "dask", *context.args])
