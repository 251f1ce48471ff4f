"""``bench rebuild``: rebuild the results database from the run folders."""

from __future__ import annotations

from benchbook.cli import options, table
from benchbook.errors import RequestError


def command(results: options.Results = options.DEFAULT_RESULTS, as_json: options.Json = False) -> None:
    """Rebuild the results database from its runs."""
    from benchbook.record.database import rebuild

    if not (results / "runs").is_dir():
        raise RequestError(
            f"There are no runs in {results.absolute()}.", "Name the folder of results with --results DIR."
        )
    counts = rebuild(results)
    table.show([{"table": name, "rows": rows} for name, rows in counts.items()], as_json)
