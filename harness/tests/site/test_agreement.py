"""Claims, comparisons and pages show one ratio, one interval and one verdict of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims, comparison, grade, quantity, two_runs
from benchbook.analyse import machines as analysed
from benchbook.analyse.claims import Judgement
from benchbook.analyse.run import Run
from benchbook.declare.claim import PHASE
from benchbook.report import across, claim, machines, opening
from benchbook.report.table import Table
from benchbook.report.tables import verdicts
from benchbook.site import outcome, published
from tests.site import checkout as making

ROOT = Path(__file__).parents[3]
PUBLISHED = making.shown()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published.results(making.every(), tmp_path_factory.mktemp("published") / "results")


def judged(run: Run) -> list[Judgement]:
    return claims.judge_run(run.results, run.run_id, ROOT / "datasets" / "published")


@pytest.mark.parametrize("export", PUBLISHED, ids=lambda one: one.experiment)
def test_the_page_and_the_index_show_what_claims_prints(results: Path, export: Any) -> None:
    run = Run(results, export.run_id)
    rows = claims.over(run, ROOT / "datasets" / "published") if run.declared.get("claims") else ()
    if not rows:
        assert not isinstance(verdicts.table(run), Table)
        return
    shown = verdicts.table(run)
    assert isinstance(shown, Table)
    assert [row[1] for row in shown.rows] == [claim.holds(row) for row in rows]
    outcomes = outcome.outcomes(run)
    assert [(one.verdict, one.value, one.low, one.high) for one in outcomes] == [
        (grade.reading(row).holds, row.measured, row.low, row.high) for row in rows
    ]


def test_a_case_has_one_mean_over_processors_on_its_page(results: Path) -> None:
    compared = 0
    for export in PUBLISHED:
        run = Run(results, export.run_id)
        if not run.declared.get("claims") or len(runs := opening.processors(run)) < 2:
            continue
        found = analysed.of_runs(runs)
        means = machines.every(found, machines._over(found)).rows
        known = {row[3] for row in across._rows(run)}
        cases = [row[-2] for row in means if row[0].startswith("Only ") and row[-2] != quantity.MISSING]
        over = {one.id for one in claims.over(run) if one.scope == "processors" and len(one.cells) > 1}
        if {one.id for one in found.findings if one.cases and one.summary is None} <= over:
            assert set(cases) <= known, export.experiment
            compared += len(cases)
    assert compared


@pytest.mark.parametrize("export", PUBLISHED, ids=lambda one: one.experiment)
def test_a_comparison_of_two_cells_has_the_ratio_and_the_interval_of_the_claim(
    results: Path, export: Any
) -> None:
    run = Run(results, export.run_id)
    compared = 0
    looks = run.fact_list("looks")
    for one in judged(run):
        if looks and one.id not in looks[-1]["verdicts"]:
            continue  # decided on fewer blocks than the page has
        if one.over_metric:
            continue  # the page has no comparison of two metrics of one cell
        for cell in one.cells:
            phase = cell.sides.levels.get(PHASE, one.phase)
            by_name = {held.cell.name: held for held in comparison.estimates(run, phase, one.metric)}
            above, below = (by_name[cell.sides.cells[place].name] for place in (-1, 0))
            versus = comparison.versus(run, above, below)
            if versus is None or versus.ratio.trials != cell.trials:
                continue  # the claim counts trials by their phase, and the page by the whole trial
            assert versus.ratio.at(one.level) == cell.ratio
            compared += 1
    assert compared or not any(one.cells for one in judged(run))


def test_compare_shows_the_typical_values_of_the_page(results: Path) -> None:
    ours = next(one.run_id for one in PUBLISHED if one.experiment == "cnos-vs-influx")
    theirs = next(
        one.run_id for one in making.every() if one.experiment == "cnos-vs-influx" and one.against_itself
    )
    run = Run(results, ours)
    typical = {
        (one.cell.name, one.phase, one.metric): one.value
        for phase, metric in run.pairs()
        for one in comparison.estimates(run, phase, metric)
    }
    changes = two_runs.compare(results, ours, theirs, across=True).changes
    assert changes
    for one in changes:
        assert one.a == typical[one.cell.partition(" → ")[0], one.phase, one.metric]
        if one.ratio is not None and one.a and one.b:
            assert one.ratio == pytest.approx(one.b / one.a)
