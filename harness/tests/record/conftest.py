"""A synthetic run, written once for all tests of the package, and sentences caught instead of printed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.record import synthetic_operations, synthetic_run


@pytest.fixture(scope="session")
def written_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    results = tmp_path_factory.mktemp("synthetic") / "results"
    run_id = synthetic_run.write(results, telemetry_seconds=2, instances=3)
    synthetic_operations.write(results / "runs" / run_id)
    return results, run_id


@pytest.fixture
def recorded(written_once: tuple[Path, str], tmp_path: Path) -> tuple[Path, str]:
    """A results folder for this test with a run of six trials, and the run's id."""
    source, run_id = written_once
    results = tmp_path / "results"
    shutil.copytree(source, results)
    return results, run_id


@pytest.fixture
def said() -> list[str]:
    """Sentences; hand ``said.append`` over as ``say``."""
    return []
