"""``bench rerun``: what it prints, refuses and ends with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchbook.cli.app import run

REVISION = "a" * 40


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results with a run from a checkout with changes; nix is there, and had from elsewhere."""
    monkeypatch.setenv("BENCHBOOK_NIX", "no-such-nix")
    place = tmp_path / "results" / "runs" / "quickstart-1"
    place.mkdir(parents=True)
    (place / "run.json").write_text(
        json.dumps(
            {
                "run_id": "quickstart-1", "experiment": "quickstart", "profile": "smoke", "order_seed": 7,
                "created_at": "2026-03-01T09:00:00+00:00", "argv": ["run", "quickstart"],
                "provenance": {"git_revision": REVISION, "git_dirty": True},
            }
        )
    )  # fmt: skip
    return tmp_path / "results"


def rerun(results: Path, *words: str) -> int:
    return run(["rerun", "--flake", "github:owner/name", "--results", str(results), *words])


def test_what_is_only_printed_is_warned_of_and_no_failure(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rerun(results, "--print") == 0
    told = capsys.readouterr()
    assert told.out.startswith(f"no-such-nix run 'github:owner/name/{REVISION}#experiment' -- quickstart")
    assert told.err == (
        "bench: quickstart-1 was made from a checkout with changes that are not committed:"
        " its revision alone is another program.\n"
    )


def test_a_revision_that_is_another_program_is_not_executed(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rerun(results) == 2
    told = capsys.readouterr()
    assert f"/{REVISION}#experiment" in told.out
    assert "so the command above was not executed." in told.err
