"""The commands together, and the one place where errors become sentences and exit codes."""

from __future__ import annotations

import functools
import os
import sys
from typing import Annotated

import typer
import typer.core

from benchbook import __version__
from benchbook.cli import (
    aa,
    claims,
    compare,
    dask,
    doctor,
    export,
    help_,
    import_,
    list_,
    load_tool,
    plan,
    rebuild,
    report,
    rerun,
    resume,
    run_,
    show,
    site,
    sql,
    test,
)
from benchbook.cli.spoken import name, spoken
from benchbook.errors import BenchbookError

# Commands in messages, said as the user said them: ``./bench``, ``bench`` or ``nix run .#benchbook --``.
#
# Every message is written with ``bench``; where it is shown on a terminal, the name that this process was called by
# stands in its place, so that a hint can be copied as it is.


# The commands together, and the one place where errors become sentences and exit codes.

INTERRUPTED = 130

app = typer.Typer(
    name="bench",
    help="Reproducible benchmarks of databases and storage: declare, plan, run, record, analyse, report.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(*, asked: bool) -> None:
    if asked:
        print(f"Benchbook {__version__}")
        raise typer.Exit


@app.callback()
def _whole(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=lambda asked: _version(asked=asked),
            is_eager=True,
            help="Print the version.",
        ),
    ] = False,
) -> None:
    pass


class _Command(typer.core.TyperCommand):
    """A command whose help names Benchbook as it was called, as hints do."""

    def get_help(self, ctx: typer.Context) -> str:  # type: ignore[override]
        return spoken(super().get_help(ctx))


_command = functools.partial(app.command, cls=_Command)
_command("list")(list_.command)
_command("show")(show.command)
_command("plan")(plan.command)
_command("run")(run_.command)
_command("resume")(resume.command)
_command("report")(report.command)
_command("rerun")(rerun.command)
_command("claims")(claims.command)
_command("compare")(compare.command)
_command("aa")(aa.command)
_command("sql")(sql.command)
_command("export")(export.command)
_command("import")(import_.command)
_command("site")(site.command)
_command("rebuild")(rebuild.command)
_command("doctor")(doctor.command)
_command("help")(help_.command)
_command("test", context_settings=test.CONTEXT)(test.command)
_command("dask", context_settings=dask.CONTEXT)(dask.command)
_command("benchload", context_settings=load_tool.CONTEXT)(load_tool.command)


def run(argv: list[str]) -> int:
    """Carry out a command line and return its exit code; a user's mistake never shows a traceback."""
    try:
        result = app(argv, prog_name=name(), standalone_mode=False)
    except BenchbookError as error:
        _tell(error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe went away (`bench sql … | head`): that is its right.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ModuleNotFoundError as error:
        _tell(
            f"The Python environment is not whole: {error.name} is missing.",
            "Remove .bench/venv and run the command again; it is then installed anew.",
        )
        return 2
    except Exception as error:
        return _usage(error)
    finally:
        _forget_intention()
    return result if isinstance(result, int) else 0


def _usage(error: Exception) -> int:
    """Tell a mistake in the command line in one sentence; anything else is our own and keeps its traceback."""
    message = getattr(error, "format_message", None)
    if message is None:
        if type(error).__name__ in ("Exit", "Abort"):
            return int(getattr(error, "exit_code", 1))
        raise error
    text = str(message())
    if text:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else name()
        _tell(text, f"See `{command} --help`.")
    return int(getattr(error, "exit_code", 2))


def _tell(message: str, hint: str | None) -> None:
    print(f"bench: {spoken(message)}", file=sys.stderr)
    if hint:
        print(f"  {spoken(hint)}", file=sys.stderr)


def _forget_intention() -> None:
    from benchbook.run.intention import forget

    forget()
