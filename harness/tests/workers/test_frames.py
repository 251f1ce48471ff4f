"""The questions of frames: two libraries give the same answers, and other answers are told apart."""

from __future__ import annotations

import random
import weakref
from dataclasses import replace

import pyarrow as pa
import pytest

from benchbook.analyse.answers import Answer, compare
from benchbook.workers import frames, query
from benchbook.workers.engine import Count, FailedError, Large, Specification, Watchdog, open_engine

ROWS = 2000
QUESTION = Specification(0, "q1", "x", "", "", 0, (), 0, 1, group_by_host=False, form="q1")


def batch(first: int, count: int) -> pa.RecordBatch:
    draw = random.Random(first)
    columns = {
        "time": pa.array([0] * count, pa.timestamp("ns", "UTC")),
        "id1": [f"id{draw.randint(1, 5):03d}" for _ in range(count)],
        "id2": [f"id{draw.randint(1, 5):03d}" for _ in range(count)],
        "id3": [f"id{draw.randint(1, 400):010d}" for _ in range(count)],
        "id4": [draw.randint(1, 5) for _ in range(count)],
        "id5": [draw.randint(1, 5) for _ in range(count)],
        "id6": [draw.randint(1, 400) for _ in range(count)],
        "v1": [draw.randint(1, 5) for _ in range(count)],
        "v2": [draw.randint(1, 15) for _ in range(count)],
        "v3": [round(draw.uniform(0, 100), 6) for _ in range(count)],
    }
    return pa.RecordBatch.from_pydict(columns)


LIBRARIES = ("duckdb", "polars", "pandas", "datafusion")
GROUP_BY = tuple(name for name in frames.SQL if name not in frames.JOINS)


@pytest.fixture(params=LIBRARIES)
def engine(request, tmp_path):
    pytest.importorskip(request.param)  # a system's own environment has the others
    found = open_engine(request.param, tmp_path / "file", {})
    for first in range(0, ROWS, 500):
        one = batch(first, 500)
        found.create("x", one.schema)
        found.insert("x", found.convert(one))
    found.settle()
    yield found
    found.close()


def join_tables() -> dict[str, pa.RecordBatch]:
    """Return the tables of the join questions; a tenth of the keys of each side is not on the other one."""
    draw = random.Random(3)
    counts = {"x": 600, "small": 10, "medium": 20, "big": 600}
    made = {}
    for name, columns in frames.TABLES.items():
        count, values = counts[name], {"time": pa.array([0] * counts[name], pa.timestamp("ns", "UTC"))}
        numbers = {}
        for key, size in zip(("id1", "id2", "id3"), (10, 20, 600), strict=True):
            first = 1 if name == "x" else 1 + size // 10
            keys = list(range(first, first + size)) + draw.choices(range(first, first + size), k=count)
            numbers[key] = draw.sample(keys[:count], count)
        for column in columns:
            if column in numbers:
                values[column] = numbers[column]
            elif column.startswith("id"):
                values[column] = [f"id{number}" for number in numbers[f"id{int(column[2]) - 3}"]]
            else:
                values[column] = [round(draw.uniform(0, 100), 6) for _ in range(count)]
        made[name] = pa.RecordBatch.from_pydict(values)
    return made


def opened(name, tmp_path, tables):
    engine = open_engine(name, tmp_path / name, {})
    for table, one in tables.items():
        engine.create(table, one.schema)
        engine.insert(table, engine.convert(one))
    engine.settle()
    return engine


def expected() -> list[dict[str, object]]:
    return [row for first in range(0, ROWS, 500) for row in batch(first, 500).to_pylist()]


def test_every_question_has_an_answer_with_its_groups(engine):
    assert engine.count()["x"] == Count(ROWS, dict.fromkeys(("id4", "id5", "id6", "v1", "v2", "v3"), ROWS))
    rows = expected()
    for question in GROUP_BY:
        columns = frames.COLUMNS[question]
        found = engine.query(replace(QUESTION, form=question, type=question))()
        keys = [name for name in columns if name.startswith("id")]
        groups = {tuple(row[key] for key in keys) for row in rows}
        per_group = dict.fromkeys(groups, 0)
        for row in rows:
            per_group[tuple(row[key] for key in keys)] += 1
        wanted = sum(min(2, count) for count in per_group.values()) if question == "q8" else len(groups)
        assert found[0] == (0, "rows", wanted), question


def number(value: str | float) -> float:
    return int(value[2:]) if isinstance(value, str) else value


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_join_has_the_rows_that_match(name, tmp_path):
    pytest.importorskip(name)
    tables = join_tables()
    rows = {table: one.to_pylist() for table, one in tables.items()}
    engine = opened(name, tmp_path, tables)
    assert engine.count()["medium"] == Count(20, dict.fromkeys(("id1", "id2", "v2"), 20))
    for question, join in frames.JOINS.items():
        found = {label: value for _, label, value in engine.query(replace(QUESTION, form=question))()}
        right = {row[join.key]: row for row in rows[join.right]}
        left = [row for row in rows["x"] if join.how == "left" or row[join.key] in right]
        assert found["rows"] == len(left)
        matches = [right[row[join.key]] for row in left if row[join.key] in right]
        for label, source in join.columns().items():
            table, column = source.split(".")
            wanted = sum(number(row[column]) for row in (left if table == "x" else matches))
            assert found[f"{label}: sum"] == pytest.approx(wanted), (question, label)
    engine.close()


@pytest.mark.parametrize(
    ("tables", "question", "wanted"),
    [
        ({"x": batch(7, ROWS)}, "q2", {"id1": "ENUM", "id2": "ENUM", "id3": "VARCHAR"}),
        (join_tables(), "medium-inner-text", {"id4": "ENUM", "id5": "ENUM", "id6": "VARCHAR"}),
    ],
)
def test_duckdb_compares_keys_with_few_values_by_enum(tables, question, wanted, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    engine = opened("duckdb", tmp_path, tables)
    engine.settle()  # again: the texts are ENUM already
    numbers = {
        name: [
            field.name for field in one.schema if pa.types.is_primitive(field.type) and field.name != "time"
        ]
        for name, one in tables.items()
    }
    assert engine.count() == {
        name: Count(one.num_rows, dict.fromkeys(numbers[name], one.num_rows)) for name, one in tables.items()
    }
    engine.close()
    with duckdb.connect(str(tmp_path / "duckdb")) as found:
        kinds = found.execute(
            "SELECT DISTINCT column_name, data_type FROM duckdb_columns() WHERE NOT internal"
        )
        kept = {name: kind.partition("(")[0] for name, kind in kinds.fetchall() if name in wanted}
        (plan,) = found.execute(f"EXPLAIN {frames.SQL[question]}").fetchall()
    assert kept == wanted
    assert "CAST" not in plan[1]


@pytest.mark.parametrize(
    ("tables", "questions"), [({"x": batch(7, ROWS)}, GROUP_BY), (join_tables(), tuple(frames.JOINS))]
)
def test_all_libraries_agree_on_every_question(tables, questions, tmp_path):
    held = []
    for name in LIBRARIES:
        try:
            engine = opened(name, tmp_path, tables)
        except ImportError:
            continue  # a system's own environment has it
        for question in questions:
            rows = engine.query(replace(QUESTION, form=question, type=question))()
            held.append(Answer(name, name, question, question, ("time_ns", "host", "value"), tuple(rows)))
        engine.close()
    assert len({answer.system for answer in held}) >= 2
    assert compare(held, 1e-6).ok


def test_exchanged_values_are_another_answer():
    answer = pa.table({"id1": ["id001", "id002"], "v1": [10, 20]})
    exchanged = pa.table({"id1": ["id002", "id001"], "v1": [10, 20]})
    turned = pa.table({"id1": ["id002", "id001"], "v1": [20, 10]})
    assert frames.condensed("q1", answer) != frames.condensed("q1", exchanged)
    assert frames.condensed("q1", answer) == frames.condensed("q1", turned)


def test_groups_without_a_value_count_as_zero():
    nothing = pa.table({"id2": ["id001"] * 2, "id4": [1, 2], "r2": pa.array([None, float("nan")])})
    assert [row[2] for row in frames.condensed("q9", nothing)][-1] == 0.0
    assert (
        frames.condensed("q1", pa.table({"id1": pa.array([], pa.string()), "v1": pa.array([], pa.int64())}))[
            0
        ][2]
        == 0
    )


def test_frames_answer_nothing_else(tmp_path):
    engine = open_engine("polars", tmp_path / "file", {})
    with pytest.raises(FailedError, match="not groupby"):
        engine.query(replace(QUESTION, form="", type="groupby"))
    with pytest.raises(ValueError, match="no setting threads"):
        open_engine("polars", tmp_path / "file", {"threads": 1})


def test_an_answer_is_freed_after_its_time(monkeypatch):
    answers, kept = [], []

    class Library:
        def query(self, _):
            def answer():
                return []

            answers.append(weakref.ref(answer))
            return Large(0, answer)

    monkeypatch.setattr(query.Recorder, "done", lambda *_: kept.append(answers[-1]() is not None))
    watchdog = Watchdog(lambda: None)
    query.query(Library(), watchdog, query.QuerySet([QUESTION] * 3, ""), 0, 60.0, "polars", lambda _: None)
    watchdog.stop()
    assert kept == [True] * 3
    assert [answer() for answer in answers] == [None] * 3
