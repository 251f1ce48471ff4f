"""Every arm must declare its durability."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from benchbook.declare.system import System
from benchbook.declare.toml import check
from benchbook.errors import RequestError

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("key", ["fsync", "wal", "replication", "compression"])
@pytest.mark.parametrize("change", ["left out", "empty"])
def test_an_arm_that_leaves_a_part_out_is_refused_by_its_name(key: str, change: str) -> None:
    declared = tomllib.loads((ROOT / "systems/sqlite.toml").read_text(encoding="utf-8"))
    durability = declared["arms"]["vanilla"]["durability"]
    if change == "empty":
        durability[key] = ""
    else:
        del durability[key]
    with pytest.raises(RequestError, match=rf"arms\.vanilla\.durability\.{key}"):
        check(declared, System, "sqlite.toml")


def test_an_arm_without_any_is_refused() -> None:
    declared = tomllib.loads((ROOT / "systems/sqlite.toml").read_text(encoding="utf-8"))
    del declared["arms"]["vanilla"]["durability"]
    with pytest.raises(RequestError, match=r"arms\.vanilla\.durability is missing"):
        check(declared, System, "sqlite.toml")
