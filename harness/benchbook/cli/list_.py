"""``bench list``: what is declared, and what has been run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchbook.cli import table
from benchbook.cli.options import DEFAULT_RESULTS, Json, Results, optional
from benchbook.errors import RequestError, unknown

if TYPE_CHECKING:
    from benchbook.declare.catalogue import Catalogue

KINDS = ("experiments", "systems", "datasets", "storage", "runs")


def command(
    what: Annotated[
        str, typer.Argument(metavar=optional("WHAT"), help=f"One of {', '.join(KINDS)}.")
    ] = "experiments",
    results: Results = DEFAULT_RESULTS,
    as_json: Json = False,
) -> None:
    """List the experiments, or the systems, datasets, storage or runs there are."""
    if what not in KINDS:
        raise unknown("list", what, KINDS)
    if what == "runs":
        from benchbook.record.runs import listing

        table.show(listing(results), as_json, f"no runs in {results} yet; `bench run quickstart` makes one")
        return
    table.show(_declared(what), as_json)


def _declared(what: str) -> list[dict[str, Any]]:
    from benchbook.declare.catalogue import Catalogue

    catalogue = Catalogue()
    kind = what.removesuffix("s") if what != "storage" else what
    made: list[dict[str, Any]] = []
    for name in catalogue.names(kind):
        try:
            made.append(_ROWS[what](catalogue, name))
        except RequestError as error:  # one bad file spoils nothing else
            made.append({kind: name, "title": f"cannot be read: {error.message}"})
    columns = dict.fromkeys(column for row in made for column in row)
    return [{column: row.get(column, "") for column in columns} for row in made]


def _experiment(catalogue: Catalogue, slug: str) -> dict[str, Any]:
    experiment = catalogue.experiment(slug)
    return {
        "experiment": slug,
        "systems": ", ".join(str(level) for level in experiment.factors["system"]),
        "profiles": ", ".join(experiment.profiles),
        "title": experiment.title,
    }


def _system(catalogue: Catalogue, name: str) -> dict[str, Any]:
    one = catalogue.system(name)
    return {"system": one.name, "version": one.version, "arms": ", ".join(one.arms), "title": one.title}


def _storage(catalogue: Catalogue, name: str) -> dict[str, Any]:
    return {"storage": name, "title": catalogue.storage(name).title}


def _dataset(catalogue: Catalogue, name: str) -> dict[str, Any]:
    one = catalogue.dataset(name)
    return {"dataset": one.name, "rows": one.typed().rows(), "seed": one.seed, "title": one.title}


_ROWS = {"experiments": _experiment, "systems": _system, "storage": _storage, "datasets": _dataset}
