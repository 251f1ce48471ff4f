"""The workload original: parsers of the tools' output, and what inch writes."""

from __future__ import annotations

import pytest

from benchbook.declare import plugin

original = plugin.module("influx-local-vs-s3fs-original", "workload")


@pytest.mark.parametrize("tool", original.ADAPTERS)
def test_output_without_the_numbers_is_none(tool: str) -> None:
    assert original.OriginalOptions(tool=tool).tool == tool
    assert original.ADAPTERS[tool].parse("panic: runtime error") is None


def test_the_points_of_inch_follow_from_its_arguments() -> None:
    assert original.inch_points([]) == 100_000
    assert original.inch_points(["-t", "4,5", "-p", "3"]) == 60
