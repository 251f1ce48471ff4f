"""A run shows its claims in the wording of today, as long as only the wording has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import claims
from benchbook.analyse.run import open_run
from benchbook.declare import catalogue
from benchbook.report import conclusion
from tests.analyse.claimed import BASE, judge, twice

TODAY = {**BASE, "statement": "A is twice as fast", "source": "page 3"}


@pytest.fixture
def declare(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that replaces the claims which this checkout declares."""

    def of(*today: dict[str, Any]) -> None:
        claims._claims_of_today.cache_clear()
        monkeypatch.setattr(catalogue.Catalogue, "unchecked", lambda *_: {"claims": list(today)})

    yield of
    claims._claims_of_today.cache_clear()


def test_a_better_wording_is_shown(tmp_path: Path, declare: Any) -> None:
    declare(TODAY)
    [one] = judge(tmp_path, twice, {})
    assert (one.statement, one.source, one.verdict) == ("A is twice as fast", "page 3", "reproduced")


def test_readers_see_how_many_claims_are_worded_otherwise_since(tmp_path: Path, declare: Any) -> None:
    declare(BASE)
    judge(tmp_path, twice, {})
    run = open_run(tmp_path)
    assert conclusion.declared(run) == "1 claim, declared before the run"
    declare(TODAY)
    assert conclusion.declared(run) == "1 claim, declared before the run, 1 worded otherwise since"
    declare({**BASE, "conclusion": 1})
    assert conclusion.declared(run) == "1 claim, declared before the run, 1 worded otherwise since"


@pytest.mark.parametrize(
    "changed", [{"published": {"ratio": 3.0}}, {"margin": 0.2}, {"test": "at-least"}, {"id": "other"}]
)
def test_a_claim_that_is_judged_otherwise_today_keeps_its_own_words(
    tmp_path: Path, declare: Any, changed: dict[str, Any]
) -> None:
    declare({**TODAY, **changed})
    [one] = judge(tmp_path, twice, {})
    assert (one.statement, one.source, one.published) == ("A is faster", "a page", 2.0)


def test_an_experiment_that_is_being_edited_changes_nothing(tmp_path: Path, declare: Any) -> None:
    declare({**TODAY, "test": "no such test"})
    [one] = judge(tmp_path, twice, {})
    assert one.statement == "A is faster"
