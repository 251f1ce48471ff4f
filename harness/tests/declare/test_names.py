"""The patterns of names that become parts of paths."""

from __future__ import annotations

import json

import pytest

from benchbook.declare import names
from benchbook.declare.catalogue import Catalogue, root

HOSTILE = [
    "", ".", "..", "../evil", "a/b", "/etc", "a\\b", "a\0b", "a\n", "\n", "~root", "$(id)", "-rf", " a", "ä", "\x1b[2J",
    "x" * 5_000, "x" * 10_000, 5, 1.0, float("inf"), None, True, [], ["a"], {}, b"a",
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: repr(value)[:20])
def test_a_hostile_value_is_no_name_of_any_kind(value: object) -> None:
    assert not names.is_name(value)
    assert not names.is_run_id(value)
    assert not names.is_trial_of(value, "quickstart-1")
    shown = names.shown(value)
    assert shown.isprintable()
    assert len(shown) <= names.SHOWN + 20


def test_all_declared_names_and_published_ids_fit() -> None:
    catalogue = Catalogue()
    kinds = ("system", "storage", "dataset", "experiment")
    assert all(names.is_name(name) for kind in kinds for name in catalogue.names(kind))
    published = [json.loads(file.read_text()) for file in root().glob("reports/data/*/*/manifest.json")]
    assert published
    assert all(names.is_run_id(one["run_id"]) for one in published)


@pytest.mark.parametrize(
    "value", ["a/0001", "quickstart-1/1", "quickstart-1/0001/", "quickstart-1/../a/0001"]
)
def test_a_trial_of_another_run_is_foreign(value: str) -> None:
    assert not names.is_trial_of(value, "quickstart-1")
