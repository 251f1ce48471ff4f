"""``bench sql "…"``: ask the results database."""

from __future__ import annotations

from typing import Annotated

import typer

from benchbook.cli import options, table


def command(
    text: Annotated[
        str, typer.Argument(metavar="SQL", help="One query; docs/results.md describes the tables.")
    ],
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Answer a SQL query over all results."""
    from benchbook.record.database import catch_up
    from benchbook.record.query import sql

    catch_up(results)
    table.show(sql(results, text).to_dicts(), as_json, "no rows")
