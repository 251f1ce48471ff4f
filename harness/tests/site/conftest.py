"""A checkout with one published run, and its site, made once for all tests that only read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.site import render
from tests.site import checkout as making


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return making.make(tmp_path_factory.mktemp("site"), telemetry_seconds=4)


@pytest.fixture(scope="session")
def site(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchbook.report.render.quarto", lambda: None)
        return render.site(checkout, tmp_path_factory.mktemp("rendered") / "site")
