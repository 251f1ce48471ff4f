"""``bench list``: what is declared, and what has been run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from benchbook.cli import table
from benchbook.cli.options import DEFAULT_RESULTS, Json, Results
from benchbook.errors import unknown

KINDS = ("experiments", "systems", "datasets", "storage", "runs")


def command(
    what: Annotated[
        str, typer.Argument(metavar="[WHAT]", help=f"One of {', '.join(KINDS)}.")
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
    if what == "experiments":
        return [_experiment(slug, catalogue.experiment(slug)) for slug in catalogue.names("experiment")]
    if what == "systems":
        found = [catalogue.system(name) for name in catalogue.names("system")]
        return [
            {"system": one.name, "version": one.version, "arms": ", ".join(one.arms), "title": one.title}
            for one in found
        ]
    if what == "storage":
        return [
            {"storage": name, "title": catalogue.storage(name).title} for name in catalogue.names("storage")
        ]
    sets = [catalogue.dataset(name) for name in catalogue.names("dataset")]
    return [
        {"dataset": one.name, "rows": one.typed().rows(), "seed": one.seed, "title": one.title}
        for one in sets
    ]


def _experiment(slug: str, experiment: Any) -> dict[str, Any]:
    return {
        "experiment": slug,
        "systems": ", ".join(str(level) for level in experiment.factors["system"]),
        "profiles": ", ".join(experiment.profiles),
        "title": experiment.title,
    }
