"""``bench sql "…"``: query the results database."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from benchbook.cli import options, table
from benchbook.errors import RequestError
from benchbook.errors import command as typed


def command(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar=options.optional("FOLDER") + " " + options.optional("SQL"),
            help="One SELECT statement. With the FOLDER of an exported or published run, it queries this run in place"
            " of your results. docs/results.md describes the tables.",
        ),
    ] = None,
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Query all results, or one run's folder, with SQL.

    Without a statement, lists the tables.
    """
    from benchbook.record import database, query
    from benchbook.record.opened import opened

    folder, text = _parsed(words or [])
    if folder is None:
        database.catch_up(results)
        found = query.tables(results) if text is None else query.sql(results, text)
    else:
        with opened(results, folder, floors=False) as run:
            found = query.tables(run.results) if text is None else query.sql(run.results, text)
    table.show(query.rows(found), as_json, "no rows")


def _parsed(words: list[str]) -> tuple[str | None, str | None]:
    """Split the words into the folder and the statement, in either order."""
    folders = [word for word in words if os.path.isdir(word)]  # noqa: PTH112 - False also for a long statement
    texts = [word for word in words if word not in folders]
    if len(folders) > 1 or len(texts) > 1:
        raise RequestError(
            f"`sql` takes one SQL statement and at most one folder of a run; found {len(texts)} and {len(folders)}.",
            f'For example: {typed("sql reports/data/quickstart")} "DESCRIBE trials"',
        )
    name = next(iter(folders), None)
    return f"./{name}" if name and "/" not in name else name, next(iter(texts), None)
