"""Questions from files: one phase each, drawn parameters, and the same answers in each engine."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from benchbook.analyse.answers import Answer, compare
from benchbook.declare.dataset import Dataset
from benchbook.declare.several import expanded
from benchbook.errors import RequestError
from benchbook.run.content import require_possible, write_rows
from benchbook.workers import query as worker
from benchbook.workers.engine import Large, open_engine
from benchbook.workers.stream import stored
from benchbook.workloads import sql
from benchbook.workloads.query import query_set
from benchbook.workloads.sql import SqlOptions

TEXTS = {
    "q1.sql": "SELECT count(*) AS n, sum(fare) AS total, avg(fare) AS mean FROM trips;",
    "q10.sql": "SELECT day, max(seen), min(shared) FROM trips GROUP BY day ORDER BY day",
    "q2.sql": "SELECT name, fare FROM trips WHERE name = {{who}} OR id < {{ limit }}",
    "q2.sqlite.sql": "SELECT name, fare FROM trips WHERE name = {{who}} OR id < {{limit}}",
}
PARAMETERS = {"who": ["it's", "n1"], "limit": {"least": 2, "most": 7}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "questions").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "questions" / name).write_text(text)
    return tmp_path


def phases(folder: Path, **options: Any) -> list[dict[str, Any]]:
    stated = {"questions": "questions/*.sql", "parameters": PARAMETERS, **options}
    return sql.several({"name": "ask", "workload": "sql", "options": stated, "fixed": ["duration"]}, folder)


def test_each_question_is_a_phase_in_the_order_of_its_number(folder: Path) -> None:
    found = phases(folder)
    assert [one["name"] for one in found] == ["q1", "q2", "q10"]
    assert found[1]["options"]["statements"].keys() == {"", "sqlite"}
    assert found[0]["options"]["statements"][""].endswith("FROM trips")
    assert all(one["fixed"] == ["duration"] for one in found)
    other = phases(folder, seed=1)
    assert found[1]["options"]["digest"] != other[1]["options"]["digest"]


def test_a_profile_may_name_the_declared_phase(folder: Path) -> None:
    (folder / "experiment.toml").write_text(
        '[[phases]]\nname = "ask"\nworkload = "sql"\n[phases.options]\nquestions = "questions/q1*.sql"\n'
        '[profiles.quick]\nphases = ["ask"]\nphase_options = { ask = { duration = "1s" } }\n'
    )
    found = expanded(folder / "experiment.toml", "experiment.toml")["profiles"]["quick"]
    assert found["phases"] == ["q1", "q10"]
    assert found["phase_options"] == {"q1": {"duration": "1s"}, "q10": {"duration": "1s"}}


def test_options_of_one_question_add_to_those_of_all(folder: Path) -> None:
    (folder / "experiment.toml").write_text(
        '[[phases]]\nname = "ask"\nworkload = "sql"\noptions = { questions = "questions/q1*.sql" }\n'
        '[profiles.quick]\nphases = ["ask", "q1"]\n'
        'phase_options = { q1 = { warmup = 1, duration = "9s" }, ask = { duration = "1s", workers = 2 } }\n'
    )
    found = expanded(folder / "experiment.toml", "experiment.toml")["profiles"]["quick"]
    assert found["phases"] == ["q1", "q10"]
    assert found["phase_options"] == {
        "q1": {"duration": "9s", "workers": 2, "warmup": 1}, "q10": {"duration": "1s", "workers": 2}
    }  # fmt: skip


def test_a_wrong_phase_is_answered_with_the_declared_names_too(folder: Path) -> None:
    (folder / "experiment.toml").write_text(
        '[[phases]]\nname = "ask"\nworkload = "sql"\noptions = { questions = "questions/q1*.sql" }\n'
        '[profiles.quick]\nphase_options = { aks = { duration = "1s" } }\n'
    )
    with pytest.raises(
        RequestError, match='phase_options: there is no phase "aks"; allowed: ask, q1, q10'
    ) as wrong:
        expanded(folder / "experiment.toml", "experiment.toml")
    assert wrong.value.hint == 'Did you mean "ask"?'


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        ({}, {"questions": "question/*.sql"}, "no file matches"),
        ({}, {"questions": "../*.sql"}, "leads out of"),
        ({}, {"questions": None}, "questions is missing"),
        ({}, {"ordered": ["q3"]}, 'no question "q3"'),
        ({}, {"parameters": {}}, r"the parameter \{\{limit\}\}, which parameters lacks"),
        ({}, {"parameters": {**PARAMETERS, "limits": [1]}}, "no question has {{limits}}; did you mean"),
        ({}, {"parameters": {**PARAMETERS, "limit": {"least": 2, "most": 1}}}, "below least"),
        ({}, {"statements": {"": "SELECT 1"}}, "reads type and statements from the files"),
        ({"q3.sqlit.sql": "SELECT 1"}, {}, 'no dialect "sqlit"'),
        ({"q3.sql": " ;\n"}, {}, "q3.sql: has no question"),
        ({"Q 3.sql": "SELECT 1"}, {}, "is not called as a question is"),
    ],
)
def test_a_mistake_is_one_sentence(
    folder: Path, files: dict[str, str], options: dict[str, Any], message: str
) -> None:
    for name, text in files.items():
        (folder / "questions" / name).write_text(text)
    with pytest.raises(RequestError, match=message) as told:
        phases(folder, **options)
    assert "\n" not in told.value.message


def test_parameters_are_drawn_from_the_seed_and_equal_for_all_systems(folder: Path) -> None:
    held = {one["name"]: SqlOptions.model_validate(one["options"]) for one in phases(folder)}
    drawn = list(sql.instances(held["q2"]))
    assert len(drawn) == sql.DIFFERENT
    assert drawn == list(sql.instances(held["q2"]))
    assert any("name = 'it''s'" in one[""] for one in drawn)
    assert all(one[""] == one["sqlite"] for one in drawn)
    other = held["q2"].model_copy(update={"seed": 1})
    assert drawn != list(sql.instances(other))
    assert (held["q1"].different, held["q1"].lasts_seconds) == (1, 2.0)
    with pytest.raises(ValueError, match="has no parameters"):
        SqlOptions(type="q1", statements={"": "SELECT 1"}, queries=5)


SELECT = """
SELECT i AS id, CASE WHEN i % 7 > 0 THEN i / 3 END AS fare,
       CASE i % 3 WHEN 0 THEN 'it''s' ELSE 'n' || i % 5 END AS name,
       i % 2 = 0 AS shared, DATE '1969-12-30' + (i % 9)::INT AS day,
       TIMESTAMP '2024-01-01 00:00:00' + INTERVAL (i) SECOND AS seen
FROM range(1000) t(i)
"""


@pytest.mark.parametrize("other", ["sqlite", "polars", "datafusion", "chdb"])
def test_engines_load_a_file_and_give_the_same_answers(folder: Path, tmp_path: Path, other: str) -> None:
    pytest.importorskip(other.replace("sqlite", "sqlite3"))
    duckdb.execute(f"COPY ({SELECT}) TO '{tmp_path / 't.parquet'}'")
    stated = {"name": "trips", "title": "T", "description": "T.", "source": {"file": "t.parquet"}}
    dataset = Dataset.model_validate(stated)
    digest = write_rows(dataset, tmp_path, tmp_path / "rows.arrow")
    context: Any = SimpleNamespace(query_files={}, folder=tmp_path)
    found: list[Answer] = []
    for name in ("duckdb", other):
        engine = open_engine(name, tmp_path / f"data.{name}", {})
        for table, batch in stored(str(tmp_path / "rows.arrow"), 300):
            engine.create(table, batch.schema)
            engine.insert(table, engine.convert(batch))
        engine.settle()
        counted = engine.count()["trips"]
        assert (counted.rows, counted.fields) == (1000, digest["tables"]["trips"]["fields"])
        for phase in phases(folder, ordered=["q10"]):
            options = SqlOptions.model_validate(phase["options"])
            sql.prepare(context, dataset, options)
            for one in worker.read(query_set(context, dataset, options)).specifications[:3]:
                answer = engine.query(one)
                assert isinstance(answer, Large)
                rows = tuple(tuple(row) for row in answer())
                assert len(rows) > 1
                found.append(
                    Answer(name, name, one.type, f"{one.type} {one.id}", ("time_ns", "host", "value"), rows)
                )
        engine.close()
    agreement = compare(found)
    assert agreement.ok, agreement.differences
    assert agreement.compared == 5


@pytest.mark.parametrize("name", ["duckdb", "sqlite", "polars", "datafusion", "chdb"])
def test_a_parameter_is_the_same_value_in_each_engine(folder: Path, tmp_path: Path, name: str) -> None:
    pytest.importorskip(name.replace("sqlite", "sqlite3"))
    texts = ["it's", "a\\", "\\'; --", '"', "{{n}}", "é", "%_", ""]
    numbers = [-5, 0, 7, -(2**62), -0.1, 1e300, -5e-324]
    (folder / "questions" / "q1.sql").write_text("SELECT {{text}} AS t, 1 -{{n}} AS n FROM trips")
    stated = {"questions": "questions/q1.sql", "parameters": {"text": texts, "n": numbers}}
    [phase] = sql.several({"name": "ask", "workload": "sql", "options": stated}, folder)
    options = SqlOptions.model_validate(phase["options"])
    engine = open_engine(name, tmp_path / "data", {})
    duckdb.execute(f"COPY (SELECT 1 AS a) TO '{tmp_path / 't.parquet'}'")
    source = {"name": "trips", "title": "T", "description": "T.", "source": {"file": "t.parquet"}}
    write_rows(Dataset.model_validate(source), tmp_path, tmp_path / "rows.arrow")
    for table, batch in stored(str(tmp_path / "rows.arrow"), 9):
        engine.create(table, batch.schema)
        engine.insert(table, engine.convert(batch))
    engine.settle()
    for number, statements in enumerate(sql.instances(options)):
        draw = random.Random(f"0 q1 {number}")
        drawn = {"n": draw.choice(numbers), "text": draw.choice(texts)}
        line = sql._line(number, "trips", options, statements)
        answer = engine.query(worker._parse(line))
        assert isinstance(answer, Large)
        [_, text, found] = answer()
        assert text == (0, "column 0", drawn["text"])
        assert found[2] == pytest.approx(1 - drawn["n"], rel=1e-12)
    engine.close()


@pytest.mark.parametrize("values", [[float("nan")], {"least": 0.0, "most": float("inf")}])
def test_a_parameter_is_finite(values: Any) -> None:
    with pytest.raises(ValueError, match="finite"):
        SqlOptions(parameters={"a": values})


class Catalogue:
    """Knows three systems."""

    def system(self, name: str) -> Any:
        return SimpleNamespace(driver={"duckdb": "duckdb", "sqlite": "sqlite", "redis-7": "redis"}[name])


@pytest.mark.parametrize(
    ("workload", "options", "system", "message"),
    [
        ("sql", {"type": "q1", "statements": {"duckdb": "SELECT 1"}}, "sqlite", "no text for sqlite, only for duckdb"),
        ("load", {}, "redis-7", "redis-7 cannot load a dataset from a file"),
        ("load", {"duration": "5s"}, "duckdb", "no rows follow those of a file"),
        ("query", {"type": "groupby"}, "duckdb", "needs data of a generator"),
    ],
)  # fmt: skip
def test_what_a_system_cannot_do_with_a_file_is_refused_before_a_run(
    workload: str, options: dict[str, Any], system: str, message: str
) -> None:
    from benchbook.declare.experiment import Phase

    source = {"name": "trips", "title": "T", "description": "T.", "source": {"file": "t.csv"}}
    plan: Any = SimpleNamespace(
        experiment="e", dataset=Dataset.model_validate(source),
        phases=[Phase.model_validate({"name": "p", "workload": workload, "options": options})],
        trials=[SimpleNamespace(cell="c", levels={"system": system})],
    )  # fmt: skip
    with pytest.raises(RequestError, match=message):
        require_possible(plan, Catalogue())  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="the machines of a cluster do not have"):
        require_possible(plan, Catalogue(), cluster=True)  # type: ignore[arg-type]
