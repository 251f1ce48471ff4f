"""Every sentence of reports may be worded otherwise: no verdict, count, colour, order or link depends on one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchbook.analyse import claims, rules
from benchbook.analyse.run import Run
from benchbook.declare.catalogue import root
from benchbook.record import ledger, manifest
from benchbook.record.opened import results_of
from tests.analyse.claimed import CNOS, INFLUX, OTHER, judge
from tests.report.reworded import MARK, original, reworded

PUBLISHED = (
    "cnos-vs-influx",
    "kline-mysql-vs-kv",
    "seaweedfs-vs-postgres",
    "sqlite-vs-filesystem",
    "quickstart",
)
"""Runs with most verdicts, open factors, other levels than the published ones, and disks on one device."""


def shown(runs: Sequence[Run], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return name → what pages show of the claims and comparisons of each run, and of all but the first."""
    from benchbook.report import answer, claim, conclusion, reasons
    from benchbook.report.charts import forest
    from benchbook.report.tables import verdicts
    from benchbook.site import index, outcome, published

    monkeypatch.setattr(published, "opened", lambda _: list(runs[1:]))
    found = {}
    for run in runs:
        parts = [
            conclusion.headline(run).html(), conclusion.answer_sentence(run).markdown,
            conclusion.findings(run).markdown, str(answer.table(run)), str(outcome.outcomes(run)),
            *(f"{rule.finding(run).mark} {reasons.why(rule.finding(run))}" for rule in rules.rules()),
        ]  # fmt: skip
        if run.declared.get("claims"):
            judged = claims.of_run(run)
            parts += [verdicts.counts(run).markdown, str(verdicts.table(run)), str(forest.chart(run))]
            parts += [
                f"{one.id} {claim.word(one)} {claim.caveats(one)} {outcome.caveat(run, one)}"
                for one in judged
            ]
            parts += [str(outcome.groups(judged)), index.strip(judged)]
        found[run.run_id] = "\n".join(parts)
    return found | {
        "summary": index.summary().markdown, "cards": str(index.cards()), "tools": str(index.tools()),
        "changes": index.changes().markdown,
    }  # fmt: skip


def whole(text: str) -> str:
    """Return a text without the reasons that are cut at a number of characters."""
    return re.sub(r'(<small class="bb-why">).*?(</small>)', r"\1\2", original(text))


def unusual(results: Path) -> Run:
    """Return a run with a short phase, a trial that failed, and a system in place of another."""
    factors = {"system": [OTHER, INFLUX], "batch_size": [1, 1000, 5000]}
    compared = {"of": {"system": OTHER}, "across": ["batch_size"], "in_cells": "any"}
    judge(
        results, lambda levels: 2.0 if levels["system"] == OTHER else 1.0,
        {**compared, "id": "own"}, {"id": "instead", "substitutes": {CNOS: OTHER}}, factors=factors,
        seconds=lambda levels, _: 0.4 if levels["batch_size"] == 1 else 10.0,
        status=lambda levels, block: ("failed", "it lasted too long") if (levels["batch_size"], block) == (1000, 2)
        else ("ok", None),
    )  # fmt: skip
    return Run(results, "run-1")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Return the unusual run, and published ones."""
    data = root() / "reports" / "data"
    exports = [manifest.checked(ledger.resolve(data / name, lambda _: None)) for name in PUBLISHED]
    results = results_of(exports, tmp_path_factory.mktemp("published") / "results")
    return [unusual(results.parent / "unusual"), *(Run(results, one.run_id) for one in exports)]


@pytest.mark.nightly
def test_no_verdict_count_colour_order_or_link_depends_on_a_sentence(
    runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shown(runs, monkeypatch)
    with reworded():
        after = shown(runs, monkeypatch)
    assert after["summary"].count(MARK) > 20
    codes = {
        part.code
        for one in claims.of_run(runs[0])
        for cell in one.cells
        for part in filter(None, [cell.unfit])
    }
    assert codes == {"short-phase", "trials-lost"}
    assert {one.verdict for one in claims.of_run(runs[0])} == {"reproduced", "substitute only"}
    for name, text in before.items():
        assert whole(after[name]) == whole(text), name
