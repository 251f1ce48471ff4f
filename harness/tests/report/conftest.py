"""The pages, for the tests of reports."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from benchbook.report.figure import Figure

REPORTS = Path(__file__).parents[3] / "reports"


@pytest.fixture(scope="session")
def reports() -> Path:
    """The folder of the real .qmd files."""
    return REPORTS


@pytest.fixture(autouse=True)
def charts_are_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Validate every chart that a test draws, which pages leave out because it is slow."""
    made = Figure.__dict__["spec"].func

    def validated(figure: Figure) -> dict[str, Any]:
        figure.chart.to_dict()
        return made(figure)

    spec = functools.cached_property(validated)
    spec.__set_name__(Figure, "spec")
    monkeypatch.setattr(Figure, "spec", spec)
