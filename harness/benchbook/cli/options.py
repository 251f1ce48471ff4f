"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
import typer.core

from benchbook.declare import checkout
from benchbook.declare.program_origin import FORMS
from benchbook.errors import RequestError, command, suggestion

DEFAULT_RESULTS = Path("results")
"""Stands for ``checkout.results()``, which depends on the working directory of a command."""

NEWER_TYPER = hasattr(typer.core.TyperArgument, "_usage_display_name")
"""True if this Typer adds brackets in usage and describes arguments in plain help; older releases do not."""


def optional(name: str) -> str:
    """Return the metavar of an optional argument, which usage shows as ``[NAME]``.

    Older releases of Typer print the metavar unchanged, so it gets the brackets here.
    """
    return name if NEWER_TYPER else f"[{name}]"


def require_one_of(option: str, given: str, allowed: Sequence[str]) -> None:
    """Raise RequestError, with the nearest name, if the text of an option is none of those that are allowed."""
    if given not in allowed:
        guess = suggestion(given, allowed) or "."
        raise RequestError(f"{option} {given}: allowed are {', '.join(allowed)}{guess}")


def results_folder(named: str | Path) -> Path:
    """Parse ``--results`` or its default; a place in object storage has a local folder in the cache."""
    from benchbook.record.folder import require_folder
    from benchbook.record.objects import SCHEME, folder_of

    text = str(checkout.results() if named is DEFAULT_RESULTS else named)
    if not text.startswith(SCHEME):
        require_folder(text, "--results")
        if "?" in str(Path(text).absolute()):  # DuckDB takes what follows for options
            raise RequestError(
                f'--results {text}: the database cannot be in a folder with "?" in its path.',
                "Name another folder: --results DIR.",
            )
    return folder_of(text)


def require_project(what: str, folder: str) -> None:
    """Raise RequestError if there is no project for a command that reads or writes one of its folders."""
    if checkout.is_installed() and not checkout.is_apart():
        raise RequestError(
            f"{what} needs {folder} of a project, and no folder at or above {Path.cwd()} has {checkout.FILE}.",
            f"Go to your project, or make one: {command('init DIR')}",
        )


def clone(what: str) -> Path:
    """Return the clone that a command for the development of Benchbook works in; raise RequestError without one."""
    folder = checkout.built_in()
    if not (folder / "harness" / "benchload").is_dir():
        raise RequestError(f"{what} needs the sources of Benchbook.", f"Run it in a clone: ./bench {what}")
    return folder


Results = Annotated[
    Path,
    typer.Option(
        "--results",
        metavar="DIR",
        envvar="BENCHBOOK_RESULTS",
        parser=results_folder,
        help="Folder of results, or s3://BUCKET/PREFIX. By default, that of the project.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON: a list of objects.")]

RUN_HELP = (
    "A run's id or its beginning, an experiment (its latest run), `latest`, or the folder of an exported or published"
    " run, such as reports/data/quickstart."
)
Run = Annotated[str, typer.Argument(metavar=optional("RUN"), help=RUN_HELP)]
Experiment = Annotated[
    str, typer.Argument(metavar="EXPERIMENT", help="Name of an experiment; `{bench} list` shows them.")
]
Profile = Annotated[
    str,
    typer.Option(
        "--profile",
        metavar="NAME",
        help="Size of the run: smoke (seconds), quick (minutes) or published (as in the publication). Some experiments"
        " have others, such as seed or out-of-cache; `{bench} list` shows them.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FACTOR=A,B",
        help="Levels to run in place of those of the experiment, such as system=duckdb,sqlite. Repeatable.",
    ),
]
Trials = Annotated[
    int | None,
    typer.Option("--trials", metavar="N", help="Trials of each cell (combination of levels)."),
]
OrderSeed = Annotated[
    int | None,
    typer.Option(
        "--order-seed", metavar="N", help="Seed of the random order of trials; a new one by default."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Start a run of many hours or gigabytes without asking.")]
RecordOperations = Annotated[
    bool,
    typer.Option(
        "--record-operations",
        help="Record every single operation in the results table `operations`; about 40 bytes each.",
    ),
]
System = Annotated[
    list[str] | None,
    typer.Option(
        "--system",
        metavar="NAME=PATH|URL|docker://IMAGE",
        help="The program, container image or running server to use for the system NAME. Repeatable.",
    ),
]
Origin = Annotated[
    list[str] | None,
    typer.Option(
        "--origin",
        metavar="NAME=TEXT",
        help="Where the program of `--system NAME=PATH` comes from, for whoever repeats the run:"
        f" {', '.join(f'`{form}`' for form in FORMS[:-1])} or `{FORMS[-1]}`. Repeatable.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="tcp://HOST:8786",
        help="Run server and clients on the workers of this Dask scheduler. Start the scheduler and its workers first:"
        " `{bench} dask scheduler`, `{bench} dask worker`.",
    ),
]
