"""Entry point: ``python -m benchbook``, the ``benchbook`` command, and what ``./bench`` runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

NAME = "benchbook"


def main() -> None:
    """Run the command line of this process and end it with the right exit code."""
    from benchbook.errors import COMMAND_VARIABLE
    from benchbook.host import terminal

    terminal.open_closed_streams()
    if Path(sys.argv[0]).name == NAME:  # as a wheel installs it
        os.environ.setdefault(COMMAND_VARIABLE, NAME)
    with terminal.guarded():
        try:
            from benchbook.cli.app import run
        except KeyboardInterrupt:  # nothing has begun
            sys.exit(130)

        sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
