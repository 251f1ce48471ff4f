"""The committed JSON Schemas match the models."""

from __future__ import annotations

import pytest

from benchbook.declare import catalogue
from benchbook.declare.catalogue import root


@pytest.mark.parametrize("kind", sorted(catalogue.models()))
def test_committed_schema_is_current(kind: str) -> None:
    committed = (root() / "docs" / "schema" / f"{kind}.json").read_text()
    assert committed == catalogue.schema_text(kind), "run: python -m benchbook.declare.catalogue"
