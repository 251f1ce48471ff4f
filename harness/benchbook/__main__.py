"""Entry point: ``python -m benchbook``, the ``benchbook`` command, and what ``./bench`` runs."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line of this process and end it with the right exit code."""
    from benchbook.host import terminal

    terminal.open_closed_streams()
    argv = sys.argv[1:]
    with terminal.guarded():
        sys.exit(_run(argv))


def _run(argv: list[str]) -> int:
    if argv[:1] in (["run"], ["aa"]) and "--help" not in argv:
        from benchbook.run.intention import remember  # before anything heavy is imported

        argv = remember(argv)
    from benchbook.cli.app import run

    return run(argv)


if __name__ == "__main__":
    main()
