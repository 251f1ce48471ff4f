"""Nix reads the same declarations, and its TOML has no dates: they are strings."""

import datetime as dt
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted(
    file for folder in ("systems", "storage", "experiments") for file in (ROOT / folder).rglob("*.toml")
)


def dates(value):
    """Return every date in a value."""
    if isinstance(value, dict):
        return [one for part in value.values() for one in dates(part)]
    if isinstance(value, list):
        return [one for part in value for one in dates(part)]
    return [value] if isinstance(value, dt.date | dt.time) else []


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_declaration_has_a_date(file):
    assert dates(tomllib.loads(file.read_text(encoding="utf-8"))) == []
