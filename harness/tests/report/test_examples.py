"""The examples in the docstrings of the package hold."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "analyse.quantity",
        "declare.metric",
        "report.charts.lead",
        "report.claim",
        "report.figure",
        "report.page",
        "report.table",
        "report.theme",
    ],
)
def test_examples(name):
    found = doctest.testmod(importlib.import_module(f"benchbook.{name}"))
    assert found.attempted > 0
    assert found.failed == 0
