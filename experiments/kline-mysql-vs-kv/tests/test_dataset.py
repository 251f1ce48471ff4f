"""Parameters of the kline generator give the flags and the number of rows of benchload."""

from __future__ import annotations

from typing import Any

import pytest

from benchbook.declare import plugin
from benchbook.declare.catalogue import Catalogue

KlineParameters = plugin.own("kline-mysql-vs-kv", "dataset")["kline"]


def parameters(**changes: Any) -> Any:
    return KlineParameters.model_validate({"stocks": 100, "start": "2020-01-06", **changes})


def test_a_hundred_stocks_are_twelve_million_rows() -> None:
    assert parameters().rows() == 12_000_000
    assert Catalogue().dataset("kline").typed().rows() == 12_000_000


def test_flags() -> None:
    assert parameters(first=101, stocks=900).flags() == [
        "--scale=1000", "--series-first=100", "--start=2020-01-06T00:00:00Z", "--days=500",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "changes", [{"stocks": 0}, {"stocks": 65_536}, {"first": 0}, {"days": 0}, {"start": "x"}, {"stock": 1}]
)
def test_not_parameters(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(changes))):
        parameters(**changes)


def test_stocks_are_numbered_with_sixteen_bits() -> None:
    with pytest.raises(ValueError, match="65535"):
        parameters(first=65_000, stocks=1000)
