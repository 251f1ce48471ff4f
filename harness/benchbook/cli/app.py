"""The command line: groups of commands, and the one place that turns errors into sentences and exit codes."""

from __future__ import annotations

import errno
import os
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from benchbook import __version__
from benchbook.cli import (
    aa,
    claims,
    clean,
    compare,
    dask,
    doctor,
    export,
    gate,
    help_,
    history,
    home,
    import_,
    init,
    lint,
    list_,
    load_tool,
    lock,
    package,
    plan,
    rebuild,
    replicate,
    report,
    rerun,
    resume,
    run_,
    show,
    site,
    sql,
    test,
    variables,
    vs,
)
from benchbook.declare import project
from benchbook.errors import BenchbookError
from benchbook.errors import command as typed
from benchbook.host import exhausted, extras, temporary, terminal
from benchbook.record.folder import FULL_OR_FORBIDDEN

INTERRUPTED = 130
CLOSED_PIPE = 141
"""What a shell shows for a program that SIGPIPE ended, because ``head`` has all that it wants."""
WORKING = frozenset(
    {
        "run",
        "resume",
        "aa",
        "vs",
        "gate",
        "rerun",
        "init",
        "report",
        "export",
        "import",
        "site",
        "rebuild",
        "clean",
        "lock",
        "lint",
        "test",
        "package",
    }
)
"""Commands that do more than print: their exit code states what they did, whether or not it could be printed."""

GROUPS: dict[str, dict[str, Any]] = {
    "Run": {
        "list": list_.command,
        "plan": plan.command,
        "run": run_.command,
        "resume": resume.command,
        "aa": aa.command,
        "vs": vs.command,
        "gate": gate.command,
        "rerun": rerun.command,
        "init": init.command,
    },
    "Read": {
        "show": show.command,
        "claims": claims.command,
        "report": report.command,
        "compare": compare.command,
        "history": history.command,
        "replicate": replicate.command,
        "sql": sql.command,
    },
    "Publish": {
        "export": export.command,
        "import": import_.command,
        "site": site.command,
    },
    "Maintain": {
        "doctor": doctor.command,
        "clean": clean.command,
        "rebuild": rebuild.command,
        "lock": lock.command,
        "lint": lint.command,
        "test": test.command,
        "package": package.command,
        "benchload": load_tool.command,
        "dask": dask.command,
    },
}
"""The commands in ``--help``; ``help`` is hidden because it does the same."""

CONTEXTS: dict[str, dict[str, Any]] = {
    "test": test.CONTEXT,
    "dask": dask.CONTEXT,
    "benchload": load_tool.CONTEXT,
}

EXAMPLES = (
    ("run quickstart", "a first run, in a few minutes"),
    ("vs 'gzip -1 -c FILE' 'gzip -9 -c FILE' --check 'gzip -dc'", "two commands, in ten seconds"),
    ("init my-benchmarks", "a project of your own"),
)


class _Command(typer.core.TyperCommand):
    """A command whose help text may contain ``{bench}``, the command that started Benchbook."""

    def get_help(self, ctx: typer.Context) -> str:  # type: ignore[override]
        return super().get_help(ctx).replace("{bench}", typed())


class _Group(typer.core.TyperGroup):
    """The list of commands, in groups below three examples."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        super().format_help_text(ctx, formatter)
        with formatter.section("Examples"):
            formatter.write_dl([(typed(words), purpose) for words, purpose in EXAMPLES], col_max=60)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, names in GROUPS.items():
            commands = {name: self.get_command(ctx, name) for name in names}
            with formatter.section(title):
                formatter.write_dl(
                    [(name, one.get_short_help_str(60)) for name, one in commands.items() if one]
                )


app = typer.Typer(
    name="bench",
    cls=_Group,
    help="Reproducible benchmarks of databases and storage, with verdicts on published comparisons.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _whole(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"Benchbook {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        home.show()


for _commands in GROUPS.values():
    for _name, _function in _commands.items():
        app.command(_name, cls=_Command, context_settings=CONTEXTS.get(_name))(_function)
app.command("help", cls=_Command, hidden=True)(help_.command)


def run(argv: list[str]) -> int:
    """Carry out a command line and return its exit code; print user errors without a traceback.

    Printing never stops a command. If standard output fails, only a command that does nothing but print ends with
    another code.
    """
    with terminal.guarded():
        code = _carry_out(argv)
        failure = terminal.failure_of_output()
        if failure is None:
            return code
        closed = terminal.is_closed_pipe(failure)
        if not closed:
            _report(f"standard output cannot be written: {failure.strerror}.", None)
        if code or (argv[:1] and argv[0] in WORKING and "--help" not in argv):
            return code
        return CLOSED_PIPE if closed else 2


def _carry_out(argv: list[str]) -> int:
    try:
        variables.require()
        variables.require_text(argv)
        for note in project.enter():
            print(f"bench: {note}", file=sys.stderr)
        result = app(argv, prog_name=typed(), standalone_mode=False)
    except BenchbookError as error:
        _report(error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        return _of_the_machine(error) or _usage(error)
    except BaseException as error:  # libraries in Rust report a refused thread with one
        if lacked := exhausted.explain(error):
            _report_lack(*lacked)
            return 2
        raise
    return result if isinstance(result, int) else 0


def _of_the_machine(error: Exception) -> int:
    """Report what the machine lacks: its environment, a folder, processes, memory or files; return 0 for the rest."""
    if not Path(sys.executable).exists():
        _report(
            f"The Python environment was removed while Benchbook used it: {sys.executable} is gone.",
            f"{typed('list')} or any other command installs it again. Finished trials are kept; to continue a run: "
            f"{typed('resume')}",
        )
    elif isinstance(error, ModuleNotFoundError):
        package = (error.name or "").partition(".")[0]
        _report(
            f"The Python environment is incomplete: {extras.named(package)} is missing.",
            f"Get it with: {extras.command(package)}",
        )
    elif isinstance(error, RecursionError):
        _report(
            "A file or an argument is nested too deep, such as a declaration or JSON with 1,000 brackets.",
            f"`{typed('list')}` names an unreadable experiment, and `{typed('list runs')}` an unreadable run.",
        )
    elif isinstance(error, OSError) and error.errno in FULL_OR_FORBIDDEN and error.filename:
        place = error.filename2 or error.filename  # of a copy, the file that was to be written
        _report(
            f"{place}: {error.strerror}.",
            temporary.space_hint(
                Path(os.fsdecode(place)),
                "Make it readable and writable, free some space, or name another folder with --results DIR.",
            ),
        )
    elif isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        _report(
            f"The name {str(error.filename)[:60]}… is too long for a file or folder.",
            "Give a shorter name: at most 255 bytes for each part of a path.",
        )
    elif lacked := exhausted.explain(error):
        _report_lack(*lacked)
    else:
        return 0
    return 2


def _report_lack(message: str, hint: str) -> None:
    _report(message, f"{hint} Finished trials are kept; to continue a run: {typed('resume')}")


_NO_INTEGER = re.compile(r"""(Input should be|('[^']*'|"[^"]*") is not) a valid integer.*""")
"""How Typer, by its version, says that a number is none."""


def _usage(error: Exception) -> int:
    """Report a mistake in the command line; raise anything else, because it is a defect of Benchbook."""
    message = getattr(error, "format_message", None)
    if message is None:
        if type(error).__name__ in ("Exit", "Abort"):
            return int(getattr(error, "exit_code", 1))
        raise error
    text = _NO_INTEGER.sub("this must be a whole number, such as 5.", str(message()))
    if text:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else typed()
        _report(text, f"See `{command} --help`.")
    return int(getattr(error, "exit_code", 2))


def _report(message: str, hint: str | None) -> None:
    print(f"bench: {message}", file=sys.stderr)
    if hint:
        print(f"  {hint}", file=sys.stderr)
