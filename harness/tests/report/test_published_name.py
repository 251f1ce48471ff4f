"""A published value never has the name of the version that replaces the published one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from benchbook.analyse import claims
from benchbook.analyse.reason import because
from benchbook.report import claim

if TYPE_CHECKING:
    from benchbook.analyse.run import Run


def test_a_published_value_has_the_name_of_the_published_version(monkeypatch: pytest.MonkeyPatch):
    why = because("system-in-place", system="mysql-9", title="MySQL 9.7", published="mysql-8")
    monkeypatch.setattr(claims, "of_run", lambda _: [SimpleNamespace(conditions=[why])])
    titles = {"mysql-9": "MySQL 9.7", "redis-7": "Redis 7"}
    run = cast(
        "Run",
        SimpleNamespace(
            experiment="own", against_itself=False, declared={"claims": [1]}, title=lambda name: titles[name]
        ),
    )
    assert claim.published_title(run, "mysql-9").startswith("MySQL 8")
    assert claim.published_title(run, "redis-7") == "Redis 7"
    named = cast("Run", SimpleNamespace(**{**vars(run), "experiment": "kline-mysql-vs-kv"}))
    assert claim.published_title(named, "redis-7") == "QData on Kvrocks", "the publication names it"
