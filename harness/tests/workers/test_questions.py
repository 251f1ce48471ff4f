"""A set of questions is one object; no engine knows one by name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from benchbook.declare.dataset import GENERATORS
from benchbook.workers import questions
from benchbook.workers.engine import FailedError, Specification, open_engine
from benchbook.workers.questions import SETS, QuestionSet, of_table, sets

PETS = QuestionSet(
    tables=("pets",),
    dialects=frozenset({"sqlite", "duckdb", "polars"}),
    text=lambda one, dialect: f"SELECT legs, count(*) FROM pets GROUP BY legs ORDER BY legs /* {one.form} */",
    compared=lambda asked, answer: [(0, asked.form, legs * 100 + count) for legs, count in answer],
    columns="name TEXT NOT NULL, legs INTEGER NOT NULL",
    key="PRIMARY KEY (name)",
    numbers=("legs",),
    convert=lambda batch: batch.select(["name", "legs"]),
)


@pytest.fixture
def pets(monkeypatch: pytest.MonkeyPatch) -> Iterator[pa.RecordBatch]:
    monkeypatch.setitem(sys.modules, "benchbook.workers.pets", SimpleNamespace(questions=PETS))  # type: ignore[arg-type]
    monkeypatch.setattr(questions, "SETS", ("pets",))
    sets.cache_clear()
    found = pa.RecordBatch.from_pydict({"time": [0, 0, 0], "name": ["a", "b", "c"], "legs": [4, 4, 2]})
    yield found.replace_schema_metadata({"table": "pets"})
    sets.cache_clear()


def asked(table: str, form: str) -> Specification:
    return Specification(0, form, table, "", "", 0, (), 0, 1, group_by_host=False, form=form)


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "polars"])
def test_an_engine_answers_any_set_that_has_a_text_for_it(
    engine: str, pets: pa.RecordBatch, tmp_path: Path
) -> None:
    opened = open_engine(engine, tmp_path / engine, {})
    opened.create("pets", pets.schema)
    opened.insert("pets", opened.convert(pets))
    opened.settle()
    assert opened.count()["pets"].rows == 3
    found: Any = opened.query(asked("pets", "legs"))
    assert found() == [(0, "legs", 201), (0, "legs", 402)]
    opened.close()


def test_a_set_without_a_text_for_an_engine_is_refused_in_words() -> None:
    found = of_table("x")
    assert found is not None
    with pytest.raises(FailedError, match="questions about x, small, medium, big have no text for sqlite"):
        found.statement(asked("x", "q1"), "sqlite")


def test_the_sets_are_those_of_their_modules() -> None:
    assert [one.tables[0] for one in sets()] == ["hits", "x"]
    assert sets() == tuple(import_module(f"benchbook.workers.{name}").questions for name in SETS)
    assert of_table("cpu") is None


def test_no_engine_names_a_set() -> None:
    files = Path(questions.__file__).parent.glob("*_engine.py")
    naming = [file.name for file in files if "hits" in file.read_text(encoding="utf-8")]
    assert naming == []


def test_their_datasets_are_loaded_by_a_worker() -> None:
    assert [name for name, one in GENERATORS.items() if one.by_worker] == ["frames", "join-frames", "hits"]
