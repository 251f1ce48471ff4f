"""``bench show NAME``: one declaration, run or trial in full."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchbook.cli import table
from benchbook.cli.options import DEFAULT_RESULTS, Json, Results
from benchbook.errors import RequestError, nearest, unknown
from benchbook.errors import command as typed

if TYPE_CHECKING:
    from benchbook.declare.catalogue import Catalogue


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="An experiment, system, dataset, storage or run (also `latest`, or the folder of an exported or"
            " published run), or a trial: RUN/NNNN.",
        ),
    ],
    every: Annotated[
        bool, typer.Option("--all", help="Show every value of a run, also of its machine.")
    ] = False,
    results: Results = DEFAULT_RESULTS,
    as_json: Json = False,
) -> None:
    """Show one declaration, run or trial.

    Of a run, long groups of values are one line each, unless you add --all. If several declarations have the name, all
    are shown.
    """
    declared = _declared(name)
    found = declared or [_recorded(name, results)]
    if as_json:
        print(json.dumps(found, indent=1, default=str, ensure_ascii=False))
        return
    for place, one in enumerate(found):
        if place:
            print()
        pairs = _flat(one) if declared or every else _brief(one)
        table.show([{"key": key, "value": table.shown(value)} for key, value in pairs], as_json=False)


LONG = 12
"""Values of a group that are shown one by one at most."""


def _brief(value: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return keys and values of a run; of a group of many values, its size and what it is about."""
    pairs: list[tuple[str, Any]] = []
    for key, inner in value.items():
        within = _flat({key: inner})
        if len(within) > LONG:
            names = [str(name) for name in inner] if isinstance(inner, dict) else []
            pairs.append(
                (key, f"{len(within)} values (--all shows them){': ' if names else ''}{', '.join(names)}")
            )
        else:
            pairs += within
    return pairs


def _declared(name: str) -> list[dict[str, Any]]:
    """Return the declarations of this name, experiments first."""
    from benchbook.declare.catalogue import Catalogue

    catalogue = Catalogue()
    _check(catalogue, name)
    readers = {
        "experiment": catalogue.experiment,
        "system": catalogue.system,
        "dataset": catalogue.dataset,
        "storage": catalogue.storage,
    }
    return [
        {
            "kind": kind,
            **(_numbers(catalogue, name) if kind == "experiment" else {}),
            **(_content(catalogue, name) if kind == "dataset" else read(name).model_dump(mode="json")),
        }
        for kind, read in readers.items()
        if name in catalogue.names(kind)
    ]


def _check(catalogue: Catalogue, name: str) -> None:
    """Raise RequestError for what no run of a declaration could do: each profile is planned, a driver looked up."""
    from benchbook.plan.plan import plan
    from benchbook.systems import driver

    if name in catalogue.names("experiment"):
        for profile in catalogue.experiment(name).profiles:
            try:
                plan(catalogue, name, profile)
            except RequestError as error:
                raise RequestError(f"profile {profile}: {error.message}", error.hint) from None
    if name in catalogue.names("system") and (wanted := catalogue.system(name).driver) not in driver.names():
        raise unknown("driver", wanted, driver.names())


def _numbers(catalogue: Catalogue, slug: str) -> dict[str, str]:
    """Return how many published numbers of an experiment are used, as one value; empty if it has none."""
    from benchbook.declare.used import account
    from benchbook.report.tables.accounted import totals

    found = account(catalogue.experiment(slug), catalogue.published(slug))
    return {"published_numbers": totals(found)} if found.numbers or found.missing else {}


def _content(catalogue: Catalogue, name: str) -> dict[str, Any]:
    """Return a dataset; of one from a file that is here also its digest, and its table as systems get it."""
    from benchbook.declare import data_file

    dataset, declaration = catalogue.dataset(name), catalogue.path("dataset", name)
    if dataset.source is None:
        return dataset.model_dump(mode="json")
    dataset, folder = dataset.pinned(declaration), declaration.parent
    shown = dataset.model_dump(mode="json")
    if dataset.source and dataset.source.has_rows and dataset.source.place(folder).exists():
        held = data_file.columns(dataset.source, dataset.columns, folder)
        shown["table"] = {dataset.table: {column: kind for column, (_, kind) in held.items()}}
    return shown


def _recorded(name: str, results: Path) -> dict[str, Any]:
    """Return ``run.json`` of a run or ``trial.json`` of a trial; raise RequestError for an unknown name."""
    from benchbook.record import opened, query, runs
    from benchbook.record.folder import TRIALS_FOLDER

    run, slash, index = name.rpartition("/")
    is_trial = bool(slash) and index.isdecimal() and not Path(name).is_dir()
    named = run if is_trial else name
    known = (runs.LATEST, *runs.run_ids(results))
    if not opened.is_folder(named) and not any(one.startswith(named) for one in known):
        raise _unknown(name, results)
    if not is_trial:
        return opened.facts(results, name)
    with opened.opened(results, named) as found:
        trial = query.trial(found.results, f"{found.run_id}/{index}")
        folder = found.results / "runs" / found.run_id / TRIALS_FOLDER / index
        where = {} if found.temporary or not folder.is_dir() else {"folder": str(folder)}
    if trial is None:
        raise _unknown(name, results)
    first = {name: trial.get(name) for name in ("trial_id", "status", "reason")}
    return {**first, **where, **trial}


def _unknown(name: str, results: Path) -> Exception:
    from benchbook.declare.catalogue import Catalogue
    from benchbook.record.runs import run_ids

    catalogue = Catalogue()
    declared = [
        one for kind in ("experiment", "system", "dataset", "storage") for one in catalogue.names(kind)
    ]
    guess = nearest(name, [*declared, *run_ids(results)])
    return RequestError(
        f'There is no experiment, system, dataset, storage, run or trial "{name}".',
        f'Did you mean "{guess}"?'
        if guess
        else f"`{typed('list')}` shows the experiments, and `{typed('list runs')}` the runs.",
    )


def _flat(value: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Flatten nested keys to dotted ones; each item of a list of tables becomes one line."""
    pairs: list[tuple[str, Any]] = []
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, dict):
            pairs += _flat(inner, f"{name}.") if inner else [(name, "")]
        elif isinstance(inner, list) and any(isinstance(item, dict) for item in inner):
            pairs += [(f"{name}[{place}]", item) for place, item in enumerate(inner)]
        else:
            pairs.append((name, inner))
    return pairs
