"""The published runs of a checkout, and a results folder made from them for the pages to read."""

# ruff: noqa: S608 - names of tables come from record.tables, paths are quoted

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.record import database, folder, manifest
from benchbook.record.ddl import literal, quoted
from benchbook.record.tables import TABLES

if TYPE_CHECKING:
    from benchbook.report.results import Run

DATA = Path("reports") / "data"


@dataclass(frozen=True)
class Published:
    """One published run."""

    experiment: str
    run_id: str
    profile: str
    folder: Path
    manifest: dict[str, Any]
    against_itself: bool = False
    """Whether it is an A/A run: it has no page, and gives the noise floor of the others."""


def all_published(root: Path) -> list[Published]:
    """Return the published runs under ``root``, by experiment, each checked against its digests.

    Raises RequestError where one is damaged or of a newer schema.
    """
    found = []
    for path in sorted((root / DATA).glob(f"*/{manifest.FILE}")):
        stated = manifest.read(path.parent)
        found.append(
            Published(
                str(stated["experiment"]),
                str(stated["run_id"]),
                str(stated["profile"]),
                path.parent,
                stated,
                bool(stated.get("against_itself")),
            )
        )
    return found


def results(published: list[Published], target: Path) -> Path:
    """Make a results folder with these runs in its database; return it."""
    target.mkdir(parents=True, exist_ok=True)
    connection = database.make(target / database.FILE)
    try:
        for one in published:
            place = target / "runs" / one.run_id
            place.mkdir(parents=True)
            for name in (folder.RUN_FILE, folder.PLAN_FILE):
                shutil.copyfile(one.folder / name, place / name)
            shutil.copytree(one.folder / "declared", place / "declared")
            for table in TABLES:
                path = one.folder / "tables" / f"{table.name}.parquet"
                if table.name != "schema_version" and path.is_file():
                    # By name: what an older table lacked is NULL.
                    connection.execute(
                        f"INSERT INTO {quoted(table.name)} BY NAME SELECT * FROM read_parquet({literal(str(path))})"
                    )
    finally:
        connection.close()
    return target


def opened(root: Path) -> list[Run]:
    """Return the published runs that answer a question, opened for a page.

    They come from the results folder that the site's rendering names.
    """
    from benchbook.report.results import RESULTS_VARIABLE, open_run

    given = os.environ.get(RESULTS_VARIABLE)
    return [
        open_run(Path(given) if given else None, one.run_id)
        for one in all_published(root)
        if not one.against_itself
    ]
