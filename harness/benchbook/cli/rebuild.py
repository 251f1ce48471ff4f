"""``bench rebuild``: make the results database anew from the trial folders."""

from __future__ import annotations

from benchbook.cli import options, table


def command(results: options.Results = options.DEFAULT_RESULTS, as_json: options.Json = False) -> None:
    """Make benchbook.duckdb anew from the folders of all runs."""
    from benchbook.record.rebuild import rebuild

    table.show([vars(rebuild(results))], as_json)
