"""The baseline of a run follows from the request, not from the order of trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.analyse import comparison
from benchbook.analyse.run import open_run
from tests.claims import measured_run


@pytest.mark.parametrize("first", [["duckdb-1.4.5", "duckdb-1.5.6"], ["duckdb-1.5.6", "duckdb-1.4.5"]])
@pytest.mark.parametrize("begins", ["duckdb-1.4.5", "duckdb-1.5.6"])
def test_the_level_that_was_given_first_is_the_baseline(
    tmp_path: Path, first: list[str], begins: str
) -> None:
    run = opened(tmp_path, {"system": [begins, *(one for one in first if one != begins)]}, {"system": first})
    base = comparison.baseline(run)
    assert base is not None
    assert base.system == first[0]


@pytest.mark.parametrize("batches", [[500, 5000], [5000, 500]])
def test_so_it_is_with_one_system_and_another_factor(tmp_path: Path, batches: list[int]) -> None:
    asked: dict[str, list[Any]] = {"system": ["duckdb"], "batch_size": batches}
    base = comparison.baseline(opened(tmp_path, {"system": ["duckdb"], "batch_size": [5000, 500]}, asked))
    assert base is not None
    assert base.levels["batch_size"] == str(batches[0])


def opened(results: Path, trials: dict[str, list[Any]], asked: dict[str, list[Any]]) -> Any:
    measured_run.write(
        results, "run-1", trials, lambda levels, block: {("load", "rows_per_second"): 1.0 + block},
        plan={"factors": asked},
    )  # fmt: skip
    return open_run(results, "run-1")
