"""The page on replication shows the recorded result."""

from __future__ import annotations

from typing import get_args

from benchbook.analyse import judgement, priors
from benchbook.site import replication
from tests.site import checkout as making


def test_the_page_shows_each_class_and_each_experiment_that_ran_on_two_processors():
    held = priors.recorded()
    figure = replication.chart()
    assert [row[0] for row in figure.table.rows] == [
        replication.KINDS[kind] for kind in replication.KINDS if kind in held.priors
    ]
    points = max(figure.spec["datasets"].values(), key=len)
    assert len(points) == 2 * len(held.priors)
    experiments = {one.name for one in held.rows if (one.left_out, one.group) == ("processor", "experiment")}
    shown = replication.processors().html()
    assert all(name in shown for name in experiments)
    assert "A run left out" in replication.runs().html()


def test_its_sentences_and_title_state_the_recorded_shares():
    [every] = [one for one in priors.recorded().rows if (one.left_out, one.group) == ("processor", "all")]
    before, after = (f"{100 * share:.0f} %" for share in (every.agrees_before, every.agrees_after))
    assert before in str(replication.finding())
    assert after in str(replication.finding())
    assert replication.chart().title.startswith(f"{after} of intervals for another processor")


def test_it_speaks_of_answers_and_not_of_the_verdicts_behind_them():
    page = (making.ROOT / "reports" / "replication.qmd").read_text(encoding="utf-8")
    doc = (making.ROOT / "docs" / "replication.md").read_text(encoding="utf-8")
    shown = [page, doc, str(replication.finding()), replication.runs().html(), replication.chart().html()]
    words = {"verdict", "Verdict", *get_args(judgement.Word)} - {"not run", "out of reach here"}
    assert [word for word in sorted(words) for text in shown if word in text] == []
    assert "opposite answers" in shown[2]
