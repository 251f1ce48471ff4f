"""``bench show X``: one declaration, run or trial in full."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from benchbook.cli import table
from benchbook.cli.options import DEFAULT_RESULTS, Json, Results
from benchbook.errors import unknown


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="X",
            help="An experiment, system, dataset, storage, run (or `latest`), or a trial: RUN/NNNN.",
        ),
    ],
    results: Results = DEFAULT_RESULTS,
    as_json: Json = False,
) -> None:
    """Show one experiment, system, dataset, storage, run or trial."""
    found = _declared(name) or _recorded(name, results)
    if found is None:
        from benchbook.declare.catalogue import Catalogue
        from benchbook.record.runs import run_ids

        catalogue = Catalogue()
        names = [
            one for kind in ("experiment", "system", "dataset", "storage") for one in catalogue.names(kind)
        ]
        raise unknown(
            "experiment, system, dataset, storage, run or trial",
            name,
            [*names, *run_ids(results)],
        )
    if as_json:
        print(json.dumps([found], indent=1, default=str, ensure_ascii=False))
        return
    table.show([{"key": key, "value": table.shown(value)} for key, value in _flat(found)], as_json=False)


def _declared(name: str) -> dict[str, Any] | None:
    from benchbook.declare.catalogue import Catalogue

    catalogue = Catalogue()
    readers = {
        "experiment": catalogue.experiment,
        "system": catalogue.system,
        "dataset": catalogue.dataset,
        "storage": catalogue.storage,
    }
    for kind, read in readers.items():
        if name in catalogue.names(kind):
            return {"kind": kind, **read(name).model_dump(mode="json")}
    return None


def _recorded(name: str, results: Any) -> dict[str, Any] | None:
    """Return ``run.json`` of a run or ``trial.json`` of a trial (``RUN/NNNN``); RUN may be ``latest``."""
    from benchbook.record.folder import read_object
    from benchbook.record.runs import LATEST, resolve

    run, _, index = name.partition("/")
    if run == LATEST:
        run = resolve(results, run)
    if not (results / "runs" / run).is_dir():
        return None
    folder = results / "runs" / run
    path = folder / "trials" / index / "trial.json" if index else folder / "run.json"
    if not index and not path.exists():
        path = folder / "plan.json"
    return read_object(path) if path.exists() else None


def _flat(value: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Return nested keys as dotted ones; lists of tables stay one value a line."""
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
