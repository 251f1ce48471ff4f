"""A checkout with one published run, and its site, made once for all tests that only read them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse.run import Run, open_run
from benchbook.site import render
from tests.record import synthetic_run
from tests.site import checkout as making


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return making.make(tmp_path_factory.mktemp("site"), telemetry_seconds=4)


@pytest.fixture(scope="session")
def site(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchbook.report.render.found", lambda: None)
        return render.site(checkout, tmp_path_factory.mktemp("rendered") / "site")


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """An ordinary run of two embedded systems."""
    results = tmp_path_factory.mktemp("plain") / "results"
    return open_run(results, synthetic_run.write(results, database=True, telemetry_seconds=4))


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Run]:
    """Write a synthetic run with the given options and open it."""

    def make(**options: Any) -> Run:
        return open_run(tmp_path / "r", synthetic_run.write(tmp_path / "r", database=True, **options))

    return make
