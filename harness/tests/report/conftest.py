"""The pages, for the tests of reports."""

from __future__ import annotations

from pathlib import Path

import pytest

REPORTS = Path(__file__).parents[3] / "reports"


@pytest.fixture(scope="session")
def reports() -> Path:
    """The folder of the real .qmd files."""
    return REPORTS
