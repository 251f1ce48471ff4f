"""Parameters of the blob generator: counts, sizes and size distributions."""

from __future__ import annotations

from typing import Any

import pytest

from benchbook.declare.dataset import BlobParameters, size


def parameters(**changes: Any) -> BlobParameters:
    return BlobParameters.model_validate({"count": 10, "size": "4KiB", **changes})


def test_rows_are_objects() -> None:
    assert parameters().rows() == 10


def test_flags() -> None:
    assert parameters(size="lognormal:4KiB:1.5").flags() == ["--count=10", "--size=lognormal:4KiB:1.5"]


@pytest.mark.parametrize(
    ("text", "expected"), [("1", 1), ("512B", 512), ("4KiB", 4096), ("2MiB", 2**21), ("1GiB", 2**30)]
)
def test_sizes(text: str, expected: int) -> None:
    assert size(text) == expected


@pytest.mark.parametrize(
    "law", ["1B", "uniform:1KiB:16KiB", "uniform:1B:1B", "lognormal:4KiB:1", "lognormal:1KiB:4"]
)
def test_laws(law: str) -> None:
    assert parameters(size=law).size == law


@pytest.mark.parametrize(
    "law",
    ["", "0B", "4kb", "4 KiB", "2GiB", "-1B", "uniform:4KiB", "uniform:4KiB:1KiB", "normal:1B:1",
     "lognormal:4KiB:0", "lognormal:4KiB:4.1", "lognormal:4KiB:nan", "lognormal:4KiB:1e0"],
)  # fmt: skip
def test_not_laws(law: str) -> None:
    with pytest.raises(ValueError, match="size"):
        parameters(size=law)
