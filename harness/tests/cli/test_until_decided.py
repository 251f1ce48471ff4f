"""When a run until its claims are decided needs an A/A run first."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchbook.cli.until_decided import _noise_measured
from benchbook.host import hardware, processor
from benchbook.host.reading import Tree
from benchbook.record import looks, runs, seal


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return a function that says whether a results folder with one run has the noise of quickstart, profile quick."""
    here = processor.of(hardware.cpu(Tree()))
    assert here is not None
    monkeypatch.setattr(runs, "processor_of", lambda _: here)
    monkeypatch.setattr(looks, "read", lambda _: [])
    monkeypatch.setattr(seal, "is_own", lambda path: path.name == "own")

    def asked(**differs: Any) -> bool:
        run = {
            "experiment": "quickstart", "profile": "quick", "against_itself": True, "whole": True,
            "finished_at": "2026-11-28", "path": tmp_path / "own", **differs,
        }  # fmt: skip
        monkeypatch.setattr(runs, "all_runs", lambda *_: [SimpleNamespace(**run)])
        return _noise_measured(tmp_path, "quickstart", "quick")

    return asked


def test_the_noise_of_this_experiment_and_profile_suffices(found: Any) -> None:
    assert found()


@pytest.mark.parametrize(
    "differs",
    [
        {"experiment": "sqlite-vs-postgres"},
        {"profile": "smoke"},
        {"against_itself": False},
        {"whole": False},
        {"finished_at": None},
        {"path": Path("foreign")},
    ],
)
def test_another_run_does_not(found: Any, differs: dict[str, Any]) -> None:
    assert not found(**differs)
