"""Sites and one report, rendered once; the tests are skipped by name where there is no Chromium."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchbook.report import render as reports
from benchbook.site import render
from tests.browser import chromium
from tests.record import synthetic_run
from tests.site import checkout as making


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Allow the first test of each site the time in which a busy machine renders it."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every page of the site and report.html, the page of a single run."""
    chromium.need()
    where = tmp_path_factory.mktemp("browser")
    checkout = making.make(where, telemetry_seconds=4)
    results = where / "other"
    run_id = synthetic_run.write(results, systems=("sqlite", "influxdb-1.8.10"), database=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchbook.report.render.quarto", lambda: None)
        site = render.site(checkout, where / "site")
        report = reports.report(results, run_id, checkout / "reports")
    shutil.copyfile(report, site / "report.html")
    return site


@pytest.fixture(scope="session")
def address(pages: Path):
    with chromium.serving(pages) as served:
        yield served


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory):
    """The site of this very checkout: the runs that we publish, as anyone renders them."""
    chromium.need()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchbook.report.render.quarto", lambda: None)
        site = render.site(making.ROOT, tmp_path_factory.mktemp("published") / "site")
    with chromium.serving(site) as served:
        yield served
