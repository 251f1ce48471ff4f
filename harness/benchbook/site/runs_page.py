"""Write docs/published-runs.md: every run of the ledger, and what differs from the run that its page shows.

``python -m benchbook.site.runs_page`` updates the page; a test fails while it lacks a run.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchbook.analyse import machines
from benchbook.analyse.run import Run
from benchbook.declare.catalogue import root
from benchbook.host import processor
from benchbook.record import ledger
from benchbook.record.ledger import Entry
from benchbook.report.table import Table
from benchbook.site import published

PAGE = Path("docs") / "published-runs.md"
INTRO = """# Every published run

Published runs are added and never replaced ([publish a run](publishing.md#publish-a-run-on-the-site)). The page of an
experiment shows the latest one that counts, and lists all others with their verdicts. These tables say for each run
whether it did the same work as the run on the page. If not, they say what differs, and its verdicts are not compared. A
defective run is *withdrawn*: it stays with the reason. A complete run that a published one names as an earlier one, and
that is not published itself, is listed too. `python -m benchbook.site.runs_page` writes this page.
"""


def text(where: Path) -> str:
    """Return the page for the ledger of a checkout."""
    found, _ = published.ledgers(where)
    every = [one for held in found.values() for one in held]
    names = dict(
        zip(
            (one.export.run_id for one in every),
            processor.names([one.processor for one in every]),
            strict=True,
        )
    )
    with tempfile.TemporaryDirectory(prefix="benchbook-published-") as scratch:
        results = published.results([one.export for one in every], Path(scratch))
        sections = [
            f"\n## {experiment}\n\n{_table(results, held, names).markdown()}\n{_unpublished(where, experiment, held)}"
            for experiment, held in found.items()
        ]
    return INTRO + "".join(sections)


def _table(results: Path, held: list[Entry], names: dict[str, str]) -> Table:
    page = ledger.shown(held)
    rows = [
        [
            one.export.run_id,
            names[one.export.run_id],
            one.export.profile,
            str(one.export.trials),
            _differs(results, one, page),
        ]
        for one in held
    ]
    return Table(["Run", "Processor", "Profile", "Trials", "Against the run on the page"], rows)


def _unpublished(where: Path, experiment: str, held: list[Entry]) -> str:
    """Return the runs that were made and not published, in Markdown; empty if there are none."""
    found = ledger.unpublished(where / ledger.DATA / experiment, held)
    rows = [
        [one.run_id, one.profile, str(one.trials), why.reason if why else "no reason was recorded"]
        for one, why in found.items()
    ]
    if not rows:
        return ""
    return f"\nMade and not published:\n\n{Table(['Run', 'Profile', 'Trials', 'Why'], rows).markdown()}\n"


def _differs(results: Path, one: Entry, page: Entry | None) -> str:
    if one.withdrawal is not None:
        return f"withdrawn on {one.withdrawal.date}: {one.withdrawal.reason}"
    if one.export.against_itself:
        return "an A/A run, which gives a noise floor"
    if page is None or one is page:
        return "is the run on the page"
    runs = {entry.export.run_id: Run(results, entry.export.run_id) for entry in (page, one)}
    return machines.of_runs(runs).left_out.get(one.export.run_id, "the same work")


if __name__ == "__main__":
    (root() / PAGE).write_text(text(root()), encoding="utf-8")
