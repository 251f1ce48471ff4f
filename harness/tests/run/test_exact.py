"""A file's values: loaded exactly, or refused; a type that holds others never changes one."""

# ruff: noqa: DTZ001 - times have no zone in systems

from __future__ import annotations

import datetime as dt
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from benchbook.declare.dataset import Dataset
from benchbook.errors import RequestError
from benchbook.run.content import write_rows
from benchbook.workers.content import compared, know
from benchbook.workers.engine import FailedError, Large, Specification, open_engine
from benchbook.workers.stream import stored


def dataset(file: str, **columns: str) -> Dataset:
    stated = {"name": "own", "title": "T", "description": "T.", "source": {"file": file}, "columns": columns}
    return Dataset.model_validate(stated)


def loaded(folder: Path, **columns: str) -> list[Any]:
    """Return the values of the column ``a`` of the only file of a folder, as systems get them."""
    [file] = [path.name for path in folder.iterdir()]
    write_rows(dataset(file, **columns), folder, folder / "rows.arrow")
    return [row["a"] for _, part in stored(str(folder / "rows.arrow"), 10) for row in part.to_pylist()]


@pytest.mark.parametrize(
    ("value", "columns", "example"),
    [
        ("9223372036854775808", {"a": "float"}, None),
        ("9007199254740993", {"a": "integer"}, None),
        ("-9223372036854775808", {}, None),
        ("18446744073709551616", {"a": "integer"}, "an integer of 64 bits"),
        ("1.5", {"a": "integer"}, "an integer of 64 bits, such as '1.5'"),
        ("2.0", {"a": "integer"}, None),
        ("0.12345678901234567890", {"a": "float"}, None),
        ("0.30000000000000004", {}, None),
        ("1e400", {}, "a finite float .* '1e400'"),
        ("1e300", {}, None),
        ("-inf", {"a": "float"}, "a finite float"),
        ("nan", {"a": "float"}, "a finite float"),
        ("2024-01-31 07:00:00.123456789", {"a": "timestamp"}, "a timestamp in microseconds"),
        ("2024-01-31 07:00:00.123456000", {"a": "timestamp"}, None),
        ("2024-01-31 12:00:00", {"a": "date"}, "a date of the years 1 to 9999"),
        ("2024-01-31 00:00:00", {"a": "date"}, None),
        ("31/12/2024", {}, None),
        ("maybe", {"a": "boolean"}, "a boolean, such as 'maybe'"),
    ],
)
@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_a_text_in_a_file_is_the_value_in_systems(
    tmp_path: Path, form: str, value: str, columns: dict[str, str], example: str | None
) -> None:
    plain = value.lstrip("-").replace("e", "").replace(".", "").isdecimal()
    quoted = value if plain else f'"{value}"'
    line = f'{{"a": {quoted}, "b": 1}}\n' if form == "ndjson" else f"a,b\n{value},1\n"
    (tmp_path / f"t.{form}").write_text(line)
    if example is None:
        assert len(loaded(tmp_path, **columns)) == 1
    else:
        with pytest.raises(RequestError, match=f'column "a" has 1 value that is not exactly {example}'):
            loaded(tmp_path, **columns)


@pytest.mark.parametrize(
    ("value", "columns", "refused"),
    [
        ("1e-400", {}, True),
        ("1e-400", {"a": "float"}, False),
        ("0.0e-400", {}, False),
        ("9007199254740993.0", {}, True),
        ("9007199254740992.0", {}, False),
    ],
)
def test_a_number_that_becomes_another_one_is_refused(
    tmp_path: Path, value: str, columns: dict[str, str], refused: bool
) -> None:
    (tmp_path / "t.csv").write_text(f"a\n1.5\n{value}\n")
    if refused:
        with pytest.raises(RequestError, match="1 value that is not exactly a finite float"):
            loaded(tmp_path, **columns)
    else:
        assert len(loaded(tmp_path, **columns)) == 2


def test_a_number_with_too_many_digits_is_no_float_unless_that_is_declared(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n9223372036854775808\n9007199254740993\n0.12345678901234567890\n1.5\n")
    with pytest.raises(
        RequestError, match=r'"a" has 3 values that are not exactly a finite float of 64 bits, such as'
    ):
        loaded(tmp_path)
    assert loaded(tmp_path, a="float") == [2.0**63, 2.0**53, 0.12345678901234568, 1.5]


@pytest.mark.parametrize(
    ("select", "columns", "value"),
    [
        ("9007199254740993::BIGINT", {"a": "float"}, 9007199254740992.0),
        ("1.25::DECIMAL(9, 2)", {"a": "float"}, 1.25),
        ("1.25::DECIMAL(9, 2)", {"a": "integer"}, "an integer"),
        ("1.25::DECIMAL(9, 2)", {"a": "text"}, "1.25"),
        ("1e19::DOUBLE", {"a": "integer"}, "an integer"),
        ("2.0::DOUBLE", {"a": "integer"}, 2),
        ("18446744073709551615::UBIGINT", {"a": "integer"}, "an integer"),
        ("2::INTEGER", {"a": "boolean"}, "a boolean"),
        ("'1.5'::VARCHAR", {"a": "integer"}, "an integer"),
        ("'Infinity'::DOUBLE", {}, "a finite float"),
        ("TIMESTAMP_NS '2024-01-31 07:00:00.000000001'", {}, "a timestamp"),
        ("TIMESTAMP_NS '2024-01-31 07:00:00.000001'", {}, dt.datetime(2024, 1, 31, 7, 0, 0, 1)),
        ("TIMESTAMPTZ '2024-01-31 07:00:00+02'", {}, dt.datetime(2024, 1, 31, 5)),
        ("TIMESTAMP '2024-01-31 07:00:00'", {"a": "date"}, "a date"),
        ("TIMESTAMP '10000-01-01 00:00:00'", {}, "a timestamp"),
        ("DATE '0001-01-01'", {}, dt.date(1, 1, 1)),
        ("DATE '0044-03-15 (BC)'", {}, "a date"),
        ("'a' || chr(0) || 'b'", {}, "a text without NUL"),
    ],
)
def test_a_typed_value_is_the_value_in_systems(
    tmp_path: Path, select: str, columns: dict[str, str], value: object
) -> None:
    duckdb.execute(f"COPY (SELECT {select} AS a UNION ALL SELECT NULL) TO '{tmp_path / 't.parquet'}'")
    if isinstance(value, str) and value.startswith("a"):
        with pytest.raises(RequestError, match=f'column "a" has 1 value that is not exactly {value}'):
            loaded(tmp_path, **columns)
    else:
        assert loaded(tmp_path, **columns) in ([value, None], [None, value])


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9)
KINDS = {
    "i": pa.int64(), "f": pa.float64(), "s": pa.string(), "b": pa.bool_(), "d": pa.date32(), "t": pa.timestamp("us"),
}  # fmt: skip


def rows(first: int, last: int) -> st.SearchStrategy[list[Any]]:
    """Return a strategy for rows whose days are in these years."""
    values = (
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        TEXTS | st.sampled_from(["", "\\N", "it's", "a\\", "\t\r\n", "NULL", "1e5", "\\'"]),
        st.booleans(),
        st.dates(dt.date(first, 1, 1), dt.date(last, 12, 31)),
        st.datetimes(dt.datetime(first, 1, 1), dt.datetime(last, 12, 31, 23, 59, 59, 999999)),
    )
    return st.lists(st.tuples(*(st.none() | one for one in values)), min_size=1, max_size=6)


EVERY, OF_CLICKHOUSE = rows(1, 9999), rows(1900, 2299)
ALL = Specification(
    0, "all", "own", "", "", 0, (), 0, 0, False, statements={"": "SELECT * FROM own ORDER BY n"}, ordered=True
)


def answered(name: str, folder: Path, where: str | Path, options: dict[str, Any]) -> list[Any]:
    """Load rows into an engine, and return what is compared of all of them."""
    engine = open_engine(name, where, options)
    for table, batch in stored(str(folder / "rows.arrow"), 4):
        engine.create(table, batch.schema)
        engine.insert(table, engine.convert(batch))
    engine.settle()
    know([ALL])
    answer = engine.query(ALL)
    assert isinstance(answer, Large)
    found = list(answer())
    engine.close()
    return found


def written(folder: Path, rows: list[tuple[Any, ...]]) -> list[Any]:
    """Write rows as a file and in Arrow; return what is compared of them."""
    numbered = [(number, *row) for number, row in enumerate(rows)]
    schema = pa.schema([("n", pa.int64()), *KINDS.items()])
    columns = [
        pa.array(column, field.type)
        for column, field in zip(zip(*numbered, strict=True), schema, strict=True)
    ]
    parquet.write_table(pa.Table.from_arrays(columns, schema=schema), folder / "t.parquet")
    write_rows(dataset("t.parquet"), folder, folder / "rows.arrow")
    return compared(ALL, numbered)


@given(data=st.data())
@settings(
    max_examples=20,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@pytest.mark.parametrize("name", ["duckdb", "sqlite", "polars", "datafusion", "chdb"])
def test_every_value_of_a_file_is_the_same_in_an_engine(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    pytest.importorskip(name.replace("sqlite", "sqlite3"))
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    expected = written(folder, data.draw(OF_CLICKHOUSE if name == "chdb" else EVERY))
    assert answered(name, folder, folder / "data", {}) == expected


@pytest.mark.parametrize("day", [dt.date(1899, 12, 31), dt.date(2300, 1, 1)])
def test_a_day_that_clickhouse_would_change_is_refused(tmp_path: Path, day: dt.date) -> None:
    pytest.importorskip("chdb")
    written(tmp_path, [(None, None, None, None, day, None)])
    with pytest.raises(FailedError, match=f"d has {day}, but ClickHouse holds"):
        answered("chdb", tmp_path, tmp_path / "data", {})
