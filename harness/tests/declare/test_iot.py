"""Parameters of the iot generator, and the declared facts of the published file."""

from __future__ import annotations

from typing import Any

import pytest

from benchbook.declare.catalogue import Catalogue
from benchbook.declare.dataset import Dataset, IotParameters
from benchbook.errors import RequestError


def parameters(**changes: Any) -> IotParameters:
    start, end = "2022-01-01T00:00:00Z", "2022-01-02T00:00:00Z"
    return IotParameters.model_validate(
        {"scale": 100, "start": start, "end": end, "interval": "50s", **changes}
    )


def test_about_a_tenth_of_the_rows_is_missing() -> None:
    assert parameters().rows() == pytest.approx(100 * 1728 * 2 * 0.9, rel=0.005)


def test_flags() -> None:
    assert parameters().flags() == [
        "--scale=100", "--start=2022-01-01T00:00:00Z", "--end=2022-01-02T00:00:00Z", "--interval=50s",
    ]  # fmt: skip


def test_the_published_dataset_has_as_many_rows_as_ours() -> None:
    dataset = Catalogue().dataset("iot-published")
    published = dataset.published
    assert published is not None
    assert published.first is not None
    assert dataset.typed().rows() == pytest.approx(published.rows, rel=0.005)
    assert published.bytes / published.rows == pytest.approx(
        published.first.bytes / published.first.rows, rel=0.005
    )


@pytest.mark.parametrize(
    ("key", "value"), [("rows", 0), ("sha256", "b8697b40"), ("sha256", "B" * 64), ("first", {"rows": 1})]
)
def test_what_is_published_is_checked(key: str, value: Any) -> None:
    declared = Catalogue().dataset("iot-published").model_dump()
    declared["published"][key] = value
    with pytest.raises((RequestError, ValueError), match="published"):
        Dataset.model_validate(declared)


def test_other_datasets_stand_for_no_file() -> None:
    assert Catalogue().dataset("devops").published is None
