"""The heap of a Java system: the arm's setting, or half of the memory that the trial may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.declare.experiment import Limits
from benchbook.process.launch import Program
from benchbook.systems import java
from benchbook.systems.driver import Place


def place(tmp_path: Path, memory_bytes: int | None, **settings: str) -> Place:
    program = Program("elasticsearch-6.8.23", "6.8.23", "maven", path=tmp_path)
    return Place(
        program, "published", dict(settings), tmp_path, tmp_path, tmp_path, limits=Limits(memory_bytes=memory_bytes)
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _eight_gib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "memory_bytes", lambda: 8 << 30)


@pytest.mark.parametrize(
    ("limit", "settings", "heap"),
    [
        (None, {}, "1g"),
        (None, {"heap": "half"}, "4096m"),
        (2 << 30, {"heap": "half"}, "1024m"),
        (16 << 30, {"heap": "half"}, "4096m"),
        (2 << 30, {"heap": "512m"}, "512m"),
    ],
)
def test_half_of_the_memory_limit_or_of_the_machine(
    tmp_path: Path, limit: int | None, settings: dict[str, str], heap: str
):
    assert java.heap_of(place(tmp_path, limit, **settings)) == heap
