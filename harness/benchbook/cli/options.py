"""Options that several commands share, with one wording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
import typer.core


def _results_folder(text: str) -> Path:
    """Read ``--results``; object storage is worked for by a folder of the cache."""
    from benchbook.record.folder import be_a_folder
    from benchbook.record.objects import folder_of

    folder = folder_of(text)
    be_a_folder(folder, "--results")
    return folder


Results = Annotated[
    Path,
    typer.Option(
        "--results",
        metavar="DIR",
        envvar="BENCHBOOK_RESULTS",
        parser=_results_folder,
        help="Folder of results, or s3://BUCKET/PREFIX.",
    ),
]


NEWER_TYPER = hasattr(typer.core.TyperArgument, "_usage_display_name")
"""Whether Typer is one of the newer releases: usage has brackets of its own, and plain help tells of arguments."""


def optional(name: str) -> str:
    """Return the metavar of an argument that may be left out, which usage shows as ``[NAME]``.

    Newer releases of Typer put it into brackets themselves, older ones show it as it is.
    """
    return name if NEWER_TYPER else f"[{name}]"


Json = Annotated[bool, typer.Option("--json", help="Print JSON, a list of objects, instead of a table.")]
Run = Annotated[
    str,
    typer.Argument(
        metavar=optional("RUN"), help="A run, the beginning of its name, an experiment, or `latest`."
    ),
]
Profile = Annotated[
    str,
    typer.Option("--profile", metavar="NAME", help="How big: smoke (seconds), quick (minutes), published."),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="FACTOR=A,B", help="Levels of a factor, such as system=duckdb,sqlite. Repeatable."
    ),
]
Trials = Annotated[int | None, typer.Option("--trials", metavar="N", help="Trials a cell.")]
OrderSeed = Annotated[
    int | None,
    typer.Option("--order-seed", metavar="N", help="Seed of the order of trials; drawn by default."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before a run of many hours or gigabytes.")]
RecordOperations = Annotated[
    bool,
    typer.Option(
        "--record-operations",
        help="Keep each operation as a record of its own (table operations): about 40 bytes each.",
    ),
]
System = Annotated[
    list[str] | None,
    typer.Option(
        "--system",
        metavar="NAME=PATH|URL|docker://IMAGE",
        help="A program or image to use for a system, or a server that runs already. Repeatable.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="tcp://HOST:8786",
        help="Dask scheduler whose workers run the server and its clients.",
    ),
]

DEFAULT_RESULTS = Path("results")
