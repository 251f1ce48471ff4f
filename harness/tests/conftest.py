"""Settings of all tests: no example of a property test fails for being slow on a busy machine; what is tallied."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests import tally

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """Count each test of a fault by the name in its mark, and each test of tallied inputs that fails."""
    report = yield
    marks = list(item.iter_markers("tally"))
    if report.when == "call" and not report.skipped:
        for mark in marks:
            if not mark.kwargs.get("by_input"):
                tally.count(mark.args[0])
            tally.broken[mark.args[0]] += report.failed
    return report


def pytest_sessionfinish() -> None:
    tally.keep()
