"""``bench list``: list declarations and runs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from benchbook.cli import table
from benchbook.cli.options import DEFAULT_RESULTS, Json, Results, optional
from benchbook.errors import RequestError, unknown
from benchbook.errors import command as typed

KINDS = ("experiments", "systems", "datasets", "storage", "runs")


def command(
    what: Annotated[
        str, typer.Argument(metavar=optional("WHAT"), help=f"One of {', '.join(KINDS)}.")
    ] = "experiments",
    results: Results = DEFAULT_RESULTS,
    as_json: Json = False,
) -> None:
    """List the experiments, systems, datasets, storage or runs."""
    if what not in KINDS:
        raise unknown("list", what, KINDS)
    if what == "runs":
        from benchbook.record.runs import listing

        table.show_differing(
            listing(results),
            as_json,
            f"No runs in {results.absolute()} yet. Start one: {typed('run quickstart')}",
        )
        return
    rows = _declared(what)
    table.show_differing(rows if as_json else [_brief(row) for row in rows], as_json)


MOST_SYSTEMS = 2
"""Systems of an experiment that are listed by name at most."""


def _brief(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose list of many systems is cut, with their number."""
    systems = str(row.get("systems", "")).split(", ")
    if len(systems) <= MOST_SYSTEMS + 1:
        return row
    return {**row, "systems": f"{', '.join(systems[:MOST_SYSTEMS])} and {len(systems) - MOST_SYSTEMS} more"}


def _declared(what: str) -> list[dict[str, Any]]:
    """Return one row per declaration, read without its model: validating all of them takes seconds."""
    from benchbook.declare import checkout, project
    from benchbook.declare.catalogue import Catalogue

    catalogue = Catalogue()
    kind = what.removesuffix("s") if what != "storage" else what
    hides = {name for one, name in project.hidden() if one == kind}

    def owner(name: str) -> dict[str, str]:
        if not checkout.is_apart():
            return {}
        own = catalogue.layer(kind, name) == checkout.root()
        return {"of": "project, hides built-in" if name in hides else "project" if own else "built-in"}

    made: list[dict[str, Any]] = []
    for name in catalogue.names(kind):
        try:
            declared = catalogue.unchecked(kind, name)
            made.append({kind: name, **owner(name), **_COLUMNS[kind](declared), "title": declared["title"]})
        except RequestError as error:  # list the others
            made.append({kind: name, **owner(name), "title": f"unreadable: {error.message}"})
        except (KeyError, TypeError, AttributeError):
            made.append({kind: name, **owner(name), "title": f"invalid; see {typed(f'show {name}')}"})
    columns = dict.fromkeys(column for row in made for column in row)
    return [{column: row.get(column, "") for column in columns} for row in made]


def _dataset(declared: dict[str, Any]) -> dict[str, Any]:
    from benchbook.declare.catalogue import Catalogue

    dataset = Catalogue().dataset(declared["name"])
    if dataset.source:
        return {"rows": "", "seed": "", "file": dataset.source.file}
    return {"rows": dataset.typed().rows(), "seed": dataset.seed, "file": ""}


_COLUMNS = {
    "experiment": lambda declared: {
        "systems": ", ".join(map(str, declared["factors"]["system"])),
        "profiles": ", ".join(declared["profiles"]),
    },
    "system": lambda declared: {"version": declared["version"], "arms": ", ".join(declared["arms"])},
    "storage": lambda _: {},
    "dataset": _dataset,
}
