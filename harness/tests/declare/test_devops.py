"""Parameters of the devops generator give the flags and the number of rows of benchload."""

from __future__ import annotations

from typing import Any

import pytest

from benchbook.declare.dataset import DevopsParameters
from benchbook.declare.duration import seconds


def parameters(**changes: Any) -> DevopsParameters:
    start, end = "2016-01-01T00:00:00Z", "2016-01-01T06:00:00Z"
    return DevopsParameters.model_validate(
        {"scale": 1, "start": start, "end": end, "interval": "10s", **changes}
    )


def test_rows_of_the_published_default() -> None:
    assert parameters().rows() == 19_440


def test_a_begun_interval_makes_a_tick() -> None:
    assert parameters(end="2016-01-01T00:00:11Z").rows() == 18


def test_flags() -> None:
    assert parameters().flags() == [
        "--scale=1", "--start=2016-01-01T00:00:00Z", "--end=2016-01-01T06:00:00Z", "--interval=10s",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"), [("10s", 10.0), ("1m30s", 90.0), ("500ms", 0.5), ("1h", 3600.0)]
)
def test_durations(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "10", "s", "-1s", "0s", "10 s", "1d"])
def test_not_durations(text: str) -> None:
    with pytest.raises(ValueError, match=f'"{text}"'):
        seconds(text)
