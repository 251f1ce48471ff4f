"""``bench replicate``: check how well published runs foresee each other."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchbook.cli import options, table
from benchbook.errors import RequestError
from benchbook.host import provenance
from benchbook.record import ledger

if TYPE_CHECKING:
    from benchbook.analyse.foresight import Row


def command(
    record: Annotated[
        bool,
        typer.Option(
            "--record", help="Store the result, with the priors that it gives, for pages and verdicts."
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Check how well published runs foresee each other.

    Leaves out each processor of each published comparison, and then each run. Compares its ratio with the interval of
    one other run, and with the estimate over all others. Only equal setups, options, data, queries, versions and
    configurations count. Reads every run in reports/data, which takes minutes. docs/replication.md explains the
    columns.
    """
    from benchbook.analyse import learned, priors
    from benchbook.declare.catalogue import root
    from benchbook.site import replication

    options.require_project("replicate", "reports/data")
    if record and (gone := priors.removed(root())):
        raise RequestError(
            f"{ledger.DATA} lacks {', '.join(gone[:3])}{', …' if len(gone) > 3 else ''}, which {learned.FILE} or the"
            " history of git names. A published run is never removed, because verdicts would change.",
            f"Restore it from git. If it is defective, name it in the {ledger.WITHDRAWN} of its experiment.",
        )
    if record and provenance.is_shallow(root()):
        raise RequestError(
            "This checkout has only the end of git's history, so it does not show whether a published run was removed.",
            "Fetch all of it, then record: git fetch --unshallow",
        )
    with tempfile.TemporaryDirectory(prefix="benchbook-replicate-") as scratch:
        cases = replication.cases(
            root(), Path(scratch), lambda text: print(text, file=sys.stderr, flush=True)
        )
    found = priors.of_cases(cases, root())
    if record:
        (root() / learned.FILE).write_text(found.text(), encoding="utf-8")
    shown = [asdict(one) for one in found.rows] if as_json else [_shown(one) for one in found.rows]
    table.show(shown, as_json, "No published comparison was run twice.")


def _shown(one: Row) -> dict[str, Any]:
    def both(name: str, form: str = "{:.1%}") -> str:
        return " > ".join(form.format(getattr(one, f"{name}_{when}")) for when in ("before", "after"))

    return {
        "left out": one.left_out,
        "of": one.name,
        "checks": one.checks,
        "CI holds": f"{one.holds_before:.1%}",
        "with both errors": both("agrees"),
        "CI within a factor": both("factor", "{:.2f}"),
        "same answer": both("same"),
        "opposite": both("opposite"),
        "decided": both("decided"),
    }
