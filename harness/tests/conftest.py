"""Settings and fixtures of all tests, including synthetic runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests.web import Web, serving

if TYPE_CHECKING:
    from benchbook.analyse.run import Run

# A property test does not fail for being slow on a busy machine.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as server:
        yield server


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Run]:
    """Return a function that writes a synthetic run with the given options into a database and opens it."""
    from benchbook.analyse.run import open_run
    from tests.record import synthetic_run

    def make(**options: Any) -> Run:
        results = tmp_path / "results"
        run_id = synthetic_run.write(results, database=True, **{"telemetry_seconds": 4, **options})
        return open_run(results, run_id)

    return make


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """An ordinary run of two embedded systems and three blocks, for tests that only read it."""
    from benchbook.analyse.run import open_run
    from tests.record import synthetic_run

    results = tmp_path_factory.mktemp("plain") / "results"
    return open_run(results, synthetic_run.write(results, database=True, telemetry_seconds=4))
