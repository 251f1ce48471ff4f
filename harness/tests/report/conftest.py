"""Runs that nobody ran, for the tests of reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse.run import Run, open_run
from tests.record import synthetic_run

REPORTS = Path(__file__).parents[3] / "reports"


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Run]:
    """Write a synthetic run with the given options, enter it into a database, open it."""

    def make(**options: Any) -> Run:
        results = tmp_path / "results"
        run_id = synthetic_run.write(results, database=True, **{"telemetry_seconds": 4, **options})
        return open_run(results, run_id)

    return make


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """An ordinary run of two systems and three blocks, for tests that only read it."""
    results = tmp_path_factory.mktemp("plain") / "results"
    return open_run(results, synthetic_run.write(results, database=True, telemetry_seconds=4))


@pytest.fixture(scope="session")
def reports() -> Path:
    """The folder of the real .qmd files."""
    return REPORTS
