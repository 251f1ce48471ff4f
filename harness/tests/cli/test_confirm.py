"""A large run reports its hours and bytes, and asks for confirmation."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.cli.carry_out import confirm
from benchbook.declare.catalogue import Catalogue
from benchbook.errors import RequestError
from benchbook.plan.budget import magnitude
from benchbook.plan.plan import plan


def test_the_published_profile_is_large_and_the_others_are_not(tmp_path: Path) -> None:
    large = magnitude(tmp_path, plan(Catalogue(), "cnos-vs-influx", "published"))
    assert large.large
    assert large.hours > 100
    assert 20e9 < large.disk_bytes < 30e9
    assert "hours and 23 GB of disk" in large.text()
    for profile in ("smoke", "quick"):
        assert not magnitude(tmp_path, plan(Catalogue(), "cnos-vs-influx", profile)).large


def test_a_large_run_asks_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = plan(Catalogue(), "cnos-vs-influx", "published")

    class Terminal:
        def __init__(self, answer: str) -> None:
            self.answer = answer

        def isatty(self) -> bool:
            return bool(self.answer)

        def readline(self) -> str:
            return self.answer

    monkeypatch.setattr("sys.stdin", Terminal(""))
    with pytest.raises(RequestError, match=r"hours and 23 GB of disk\. Cannot ask.*--yes"):
        confirm(tmp_path, made, yes=False)
    confirm(tmp_path, made, yes=True)
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    with pytest.raises(RequestError, match="Nothing was started"):
        confirm(tmp_path, made, yes=False)
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    confirm(tmp_path, made, yes=False)
    confirm(tmp_path, plan(Catalogue(), "quickstart", "smoke"), yes=False)
