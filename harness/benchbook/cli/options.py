"""Options that several commands share, and from options to a plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
import typer.core

from benchbook.declare.catalogue import Catalogue, root
from benchbook.errors import RequestError
from benchbook.plan.factors import parse_set
from benchbook.plan.plan import Plan, plan
from benchbook.provision.find import preview
from benchbook.provision.request import Request

# Options that several commands share, with one wording.


def _results_folder(text: str) -> Path:
    """Read ``--results``; object storage is worked for by a folder of the cache."""
    from benchbook.record.folder import require_folder
    from benchbook.record.objects import folder_of

    folder = folder_of(text)
    require_folder(folder, "--results")
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


# From the options of ``bench plan`` and ``bench run`` to a plan.


def parse_system(texts: list[str], catalogue: Catalogue) -> dict[str, str]:
    """Return ``--system NAME=PATH-or-URL`` texts as system → program; raise RequestError where one is malformed."""
    given: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise RequestError(
                f"--system {text}: is not of the form NAME=PATH or NAME=URL.",
                "To choose which systems are compared, use --set system=a,b.",
            )
        catalogue.path("system", name)
        given[name] = value
    return given


def planned(
    catalogue: Catalogue,
    slug: str,
    profile: str,
    sets: list[str] | None,
    trials: int | None,
    order_seed: int | None,
    systems: list[str] | None,
    against_itself: bool = False,
    cluster: str | None = None,
    record_operations: bool = False,
) -> Plan:
    """Return the plan that the options ask for; raise RequestError for anything wrong in them."""
    given = parse_system(systems or [], catalogue)
    made = plan(
        catalogue, slug, profile, parse_set(sets or []), trials=trials, order_seed=order_seed, given=given,
        against_itself=against_itself,
    )  # fmt: skip
    if record_operations and cluster:
        raise RequestError(
            "--record-operations keeps files on the machine of the client, which --cluster puts elsewhere.",
            "Leave one of them out; histograms of intervals come back from a cluster too.",
        )
    made = replace(made, record_operations=record_operations)
    unused = sorted(set(given) - set(made.systems()))
    if unused:
        raise RequestError(
            f"--system {unused[0]}=…: this run does not use {unused[0]}.",
            f"Add it with --set system={','.join([*made.systems(), unused[0]])}.",
        )
    asked = Request(given=made.given)
    for name in made.given if cluster is None else ():
        preview(
            catalogue.system(name), asked
        )  # a path that is not there is refused before anything is stored
    return replace(made, cluster=cluster)


def need_report(slug: str) -> None:
    """Raise RequestError where an experiment has no report: a run ends with one, a plan needs none."""
    if not (root() / "reports" / f"{slug}.qmd").is_file():
        raise RequestError(
            f"There is no report reports/{slug}.qmd for the experiment {slug}.",
            f"Begin with a copy: cp reports/quickstart.qmd reports/{slug}.qmd",
        )
