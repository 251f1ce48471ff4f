"""``bench history EXPERIMENT``: each main metric over all recorded runs or releases, with its changes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchbook.cli import options, table
from benchbook.errors import RequestError, suggestion
from benchbook.errors import command as typed

if TYPE_CHECKING:
    from benchbook.analyse.past import Series
    from benchbook.analyse.run import Run

WAYS = ("run", "release")
MANY = 60
"""Rows above which series without a change are left out."""


def command(
    slug: options.Experiment,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="|".join(WAYS),
            help="run: the runs in the order of their time; release: the releases of a system whose declarations state"
            " `released`. By default release, if a run measured several.",
        ),
    ] = "",
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", metavar="NAME", help="Only this metric; by default all main ones. Repeatable."
        ),
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Also write a page with charts.")
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--all", help=f"Also print series without a change if there are more than {MANY} points."
        ),
    ] = False,
    results: options.Results = options.DEFAULT_RESULTS,
    as_json: options.Json = False,
) -> None:
    """Show how the metrics of an experiment changed over its runs or releases.

    Reads the complete runs in the results folder and the published ones. Only points of the same work, profile and
    processor are in one series. A change point is where a series changes its level (E-divisive); all series together
    have one by chance in at most 5 % of histories. docs/history.md explains it.
    """
    from benchbook.analyse import past
    from benchbook.declare.catalogue import Catalogue

    Catalogue().path("experiment", slug)
    if by:
        options.require_one_of("--by", by, WAYS)
    if page is not None:
        from benchbook.report import place

        if not page.parent.is_dir():
            raise RequestError(
                f"--page {page}: there is no folder {page.parent}.", "Make it, or name another one."
            )
        place.require_replaceable([page], named=True)
    with _runs(slug, results) as runs:
        releases = any(map(past.has_releases, runs))
        if by == "release" and not releases:
            raise RequestError(
                f"--by release: no run of {slug} measured two systems of one driver that state `released`.",
                "Leave it out to see the history by run.",
            )
        way: past.By = "release" if by == "release" or (not by and releases) else "run"
        found = past.of_runs(runs, way, metrics or [])
        if metrics and (unknown := sorted({*metrics} - {one.metric for one in found})):
            measured = sorted({one.metric for one in past.of_runs(runs, way)})
            raise RequestError(
                f"--metric {unknown[0]}: the runs of {slug} have no such main metric"
                f"{suggestion(unknown[0], measured) or '.'}",
                f"They have: {', '.join(measured)}.",
            )
        if page is not None:
            _write(page, slug, found)
    if as_json:
        table.show([_row(one) for one in found], as_json=True)
        return
    _show(found, len(runs), every=every)
    if page is not None:
        print(f"\n{page}")


@contextlib.contextmanager
def _runs(slug: str, results: Path) -> Iterator[list[Run]]:
    """Open the complete runs of an experiment that answer its question, in the results and in the ledger."""
    from benchbook.analyse.run import Run
    from benchbook.declare.catalogue import root
    from benchbook.record import ledger
    from benchbook.record.opened import opened
    from benchbook.record.runs import all_runs

    published, problems = ledger.entries(root() / ledger.DATA / slug)
    for problem in problems:
        print(f"bench: left out: {problem}", file=sys.stderr)
    names = {one.export.run_id: str(one.export.folder) for one in published if one.answers}
    withdrawn = {one.export.run_id for one in published if one.withdrawal}
    for run in all_runs(results):
        if run.experiment == slug and run.whole and run.finished_at and run.kind != "A/A":
            names.setdefault(run.run_id, run.run_id)
    chosen = [name for run_id, name in names.items() if run_id not in withdrawn]
    if not chosen:
        raise RequestError(
            f"There is no complete run of {slug}, neither in {results} nor published.",
            f"Run it: {typed(f'run {slug}')}",
        )
    with opened(results, *chosen, floors=False) as held:
        yield [Run(held.results, run_id) for run_id in held.run_ids]


def _show(found: Sequence[Series], runs: int, *, every: bool) -> None:
    """Print a row for each point, and what was found."""
    from benchbook.report.charts.past import interval, text_of

    drawn = [one for one in found if len(one.points) > 1]
    changed = [one for one in drawn if one.changes]
    printed = drawn if every or sum(len(one.points) for one in drawn) <= MANY else changed
    table.show_differing(
        [
            {
                "profile": one.profile, "processor": one.processor, "setup": one.cell, "phase": one.phase,
                "metric": one.metric, "point": point.label, "day": point.day, "version": point.version,
                "value": _value(point.typical.value, one.unit), "95 % CI": interval(point, one.unit),
                "change": next((text_of(each) for each in one.changes if each.place == place), ""),
            }
            for one in printed
            for place, point in enumerate(one.points)
        ],
        as_json=False,
        empty="No series has a change."
        if drawn
        else "Every metric has one point: no two runs did the same work on one processor.",
    )  # fmt: skip
    if not drawn:
        return
    count = sum(len(one.changes) for one in drawn)
    changes = "1 change" if count == 1 else f"{count} changes"
    points = max(len(one.points) for one in drawn)
    print(f"\n{changes} in {len(drawn)} series of up to {points} points, from {runs} runs.")
    if few := sum(not one.enough for one in drawn):
        print(f"{few} of them have too few points to find a change among so many series.")
    if len(printed) < len(drawn):
        print(f"{len(drawn) - len(printed)} series without a change are not shown: --all, or --page FILE")


def _value(value: float | None, unit: str) -> str:
    from benchbook.analyse import quantity

    return quantity.text(value, unit)


def _row(one: Series) -> dict[str, Any]:
    """Return a series as an object of ``--json``."""
    return {
        "by": one.by, "profile": one.profile, "processor": one.processor, "setup": one.cell, "phase": one.phase,
        "metric": one.metric, "unit": one.unit, "direction": one.direction, "level": one.level,
        "points": [
            {
                "label": point.label, "day": point.day, "version": point.version, "value": point.typical.value,
                "low": point.typical.low, "high": point.typical.high, "trials": point.typical.trials,
            }
            for point in one.points
        ],
        "changes": [
            {
                "place": each.place, "from": one.points[each.place].label, "p": each.p, "ratio": each.ratio,
                "direction": each.direction,
            }
            for each in one.changes
        ],
    }  # fmt: skip


def _write(target: Path, slug: str, found: Sequence[Series]) -> None:
    """Write the page with a chart for each metric."""
    from benchbook.report import notebook, page
    from benchbook.report.charts.past import charts
    from benchbook.report.render import write
    from benchbook.report.table import escape_html

    drawn = charts(found)
    if not drawn:
        raise RequestError(
            f"No page was written: every metric of {slug} has one point.",
            "A history needs two runs of the same work on one processor, or two releases in one run.",
        )
    intro = (
        f"<p>Each main metric of the experiment {escape_html(slug)}, for each setup. A ring is the first point after a "
        "change of the level (E-divisive); all series together have one by chance in at most 5 % of histories.</p>"
    )
    title = f"History: {slug}"
    document = notebook.Document(target, title, "", "en", [])
    body = "".join(
        f"<h2>{escape_html(where)}</h2>{''.join(one.html() for one in figures)}"
        for where, figures in drawn.items()
    )
    write(target, page.render(document, page.bundle(), text=intro + body))
