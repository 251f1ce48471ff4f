"""Metrics and checks of the workload ``blob``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from benchbook.storage.driver import disks
from benchbook.workloads.blob import BlobOptions, checks, measurements

DIGEST = {"objects": 100, "sha256": "aa"}
SUMMARY = {"duration_ns": 2_000_000_000, "operations": 10, "rows": 100, "bytes": 4000, "errors": 0}


def found(**changes: Any) -> dict[str, Any]:
    """Return the result of reading the whole dataset back."""
    whole = {"objects": 100, "read": 100, "different": 0, "back": 0, "sha256": "aa", "expected": "aa"}
    return {**whole, **changes}


def wrong(**changes: Any) -> list[str]:
    """Return the names of the checks that fail."""
    return [name for name, expected, got in checks("put", found(**changes), DIGEST) if expected != got]


def test_everything_read_back_is_held_against_the_dataset() -> None:
    assert wrong() == []
    assert len(checks("put", found(), DIGEST)) == 5


def test_what_is_lost_changed_or_back_is_told() -> None:
    assert wrong(read=99) == ["objects read back after put"]
    assert wrong(different=1, sha256="bb") == [
        "objects with other bytes after put",
        "digest of the objects after put is that of what was put",
        "digest of the objects after put is that of the dataset",
    ]
    assert wrong(back=2) == ["deleted objects that are there after put"]


def test_after_a_mix_there_is_another_number_and_only_what_was_put_is_compared() -> None:
    assert wrong(objects=90, read=90, sha256="cc", expected="cc") == []


def test_as_many_other_objects_after_a_mix_are_not_held_against_the_dataset() -> None:
    mixed = found(sha256="cc", expected="cc")
    assert all(expected == got for _, expected, got in checks("mixed", mixed, DIGEST, whole=False))
    assert wrong(sha256="cc", expected="cc") == ["digest of the objects after put is that of the dataset"]


def test_an_object_and_a_transaction_are_counted_apart() -> None:
    values = {one.metric: one.value for one in measurements("put", SUMMARY, 0.5)}
    assert values["objects_per_second"] == 50
    assert values["operations_per_second"] == 5
    assert values["settled_seconds"] == 2.5
    assert "saturated" not in values


def test_an_open_loop_says_whether_it_was_reached() -> None:
    open_loop = {**SUMMARY, "offered_per_second": 10.0, "saturated": True}
    values = {one.metric: one.value for one in measurements("put", open_loop, 0.0)}
    assert values["offered_per_second"] == 10
    assert values["saturated"] == 1


@pytest.mark.parametrize("mix", ["", "put", "put=1,look=2", "get=0", "put=-1"])
def test_a_mix_that_is_none_is_refused(mix: str) -> None:
    with pytest.raises(ValidationError, match="is not a mix"):
        BlobOptions(do="mixed", mix=mix)


def test_disks_are_found_below_the_data_folder(tmp_path: Path) -> None:
    assert disks(tmp_path) == [tmp_path]
    for name in ("disk-2", "disk-1"):
        (tmp_path / name).mkdir()
    assert disks(tmp_path) == [tmp_path / "disk-1", tmp_path / "disk-2"]
