"""Entry point: ``python -m benchbook``, the ``benchbook`` command, and what ``./bench`` runs."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line of this process and end it with the right exit code."""
    argv = sys.argv[1:]
    if argv[:1] in (["run"], ["aa"]) and "--help" not in argv:
        from benchbook.run.intention import remember  # before anything heavy is imported

        argv = remember(argv)
    from benchbook.cli.app import run

    sys.exit(run(argv))


if __name__ == "__main__":
    main()
