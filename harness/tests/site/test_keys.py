"""The key of a page changes with every file that the page is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.site import keys
from benchbook.site.index import Page


@pytest.mark.parametrize(
    "name",
    [
        "CITATION.cff",
        "datasets/published/some.csv",
        "experiments/some/experiment.toml",
        "reports/data/some/left-out.toml",
        "reports/data/some/withdrawn.toml",
        "reports/priors.json",
        "reports/some.qmd",
        "storage/some.toml",
        "systems/some.py",
        "systems/some.toml",
        "workloads/some.py",
    ],
)
def test_a_file_that_pages_are_made_of_is_in_their_key(name: str, tmp_path: Path) -> None:
    page = Page("some", tmp_path / "reports" / "some.qmd", None)

    def key() -> str:
        return keys.of(tmp_path, [page], [], None)["some"]

    before = key()
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("first")
    first = key()
    (tmp_path / name).write_text("second")
    assert len({before, first, key()}) == 3
