"""A program of Benchbook that is removed during a run stops the run; it does not fail every later trial."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchbook.errors import RequestError
from benchbook.run.trial import TrialRun


def trial(benchload: Path) -> TrialRun:
    made = object.__new__(TrialRun)
    made.context = SimpleNamespace(benchload=benchload, plan=SimpleNamespace(run_id="quickstart-1"))  # type: ignore[assignment]
    return made


def test_what_is_still_there_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "benchload").touch()
    trial(tmp_path / "benchload")._require_installation()


@pytest.mark.parametrize("removed", ["benchload", "python"])
def test_what_is_removed_is_named_with_the_way_to_go_on(
    removed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in {"benchload", "python"} - {removed}:
        (tmp_path / name).touch()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(
        RequestError, match=f"{tmp_path}/{removed} was removed while the run used it"
    ) as caught:
        trial(tmp_path / "benchload")._require_installation()
    assert "resume quickstart-1" in str(caught.value.hint)
