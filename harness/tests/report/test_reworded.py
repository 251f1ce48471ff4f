"""Every sentence of reports may be worded otherwise: no verdict, count, colour, order or link depends on one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import pytest

from benchbook.analyse import claims, rules
from benchbook.analyse.run import Run
from benchbook.declare.catalogue import root
from benchbook.record import manifest
from benchbook.record.opened import results_of
from tests.report.reworded import reworded

PUBLISHED = (
    "cnos-vs-influx",
    "kline-mysql-vs-kv",
    "seaweedfs-vs-postgres",
    "sqlite-vs-filesystem",
    "quickstart",
)
"""Runs with every verdict, substitutes, short phases, open factors, and disks on one device."""


def shown(runs: Sequence[Run], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return name → what pages show of the claims and comparisons of each run, and of all runs."""
    from benchbook.report import answer, claim, conclusion, reasons
    from benchbook.report.charts import forest
    from benchbook.report.tables import verdicts
    from benchbook.site import index, outcome, published

    monkeypatch.setattr(published, "opened", lambda _: list(runs))
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
            parts += [str(outcome.counts(judged)), index.strip(judged)]
        found[run.experiment] = "\n".join(parts)
    return found | {
        "summary": index.summary().markdown, "cards": str(index.cards()), "tools": str(index.tools()),
        "changes": index.changes().markdown,
    }  # fmt: skip


def once(text: str) -> list[str]:
    """Return the words and signs of a text; of those that are repeated, one."""
    text = re.sub(
        r'(<small class="bb-why">).*?(</small>)', r"\1\2", text
    )  # it is cut at a number of characters
    return [word for word, _ in itertools.groupby(re.findall(r"\w+|[^\w\s]", text.casefold()))]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    data = root() / "reports" / "data"
    exports = [manifest.checked(data / name) for name in PUBLISHED]
    results = results_of(exports, tmp_path_factory.mktemp("published") / "results")
    return [Run(results, one.run_id) for one in exports]


def test_no_verdict_count_colour_order_or_link_depends_on_a_sentence(
    runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shown(runs, monkeypatch)
    with reworded():
        after = shown(runs, monkeypatch)
    assert "of of 12 claims claims: 4 contradicted" in after["cnos-vs-influx"].casefold()
    for name, text in before.items():
        assert once(after[name]) == once(text), name
