"""How well the published runs foresee each other: the cases of a checkout, and the parts of the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchbook.analyse import replication
from benchbook.analyse.replication import Case
from benchbook.analyse.run import Run
from benchbook.record import ledger
from benchbook.site import published


def cases(root: Path, scratch: Path, note: Callable[[str], None] = lambda _: None) -> list[Case]:
    """Return the published comparisons of a checkout, opened in a new folder; ``note`` gets a line per experiment."""
    found, _ = published.ledgers(root)
    note("reading the published runs")
    results = published.results([one.export for held in found.values() for one in held], scratch / "results")
    made: list[Case] = []
    for experiment, held in found.items():
        runs = [
            (processor, Run(results, one.export.run_id))
            for processor, group in enumerate(ledger.by_processor(held))
            for one in group
        ]
        made += replication.cases(experiment, runs)
        note(f"compared the runs of {experiment}")
    return made
