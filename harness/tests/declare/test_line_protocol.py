"""Line protocol: what a file states is what systems load, and anything else is refused with its line."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchbook.declare.dataset import Dataset
from benchbook.declare.line_protocol import Value, measurement, point
from benchbook.errors import RequestError
from benchbook.run.content import write_rows
from benchbook.workers.stream import stored

SECOND = 10**9


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHBOOK_CACHE", str(tmp_path / "cache"))


def dataset(file: str, columns: dict[str, str] | None = None, **source: Any) -> Dataset:
    stated = {"name": "own", "title": "T", "description": "T.", "source": {"file": file, **source}}
    return Dataset.model_validate(stated | {"columns": columns or {}})


def loaded(folder: Path, text: str, name: str = "t.lp", **source: Any) -> list[dict[str, Any]]:
    """Return the rows of a file with this text, as systems get them."""
    content = text.encode()
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    write_rows(dataset(name, **source).pinned(folder / "own.toml"), folder, folder / "rows.arrow")
    return [row for _, part in stored(str(folder / "rows.arrow"), 10) for row in part.to_pylist()]


CPU = r"""# a comment

cpu,host=web\ 1,dc=a\=b usage=1.5,n=-2i,big=9223372036854775807i,up=t,note="a \"b\", c=d \\ \n" 1451606400000000000
mem free=3u 1
cpu,host=web\,2 usage=.5e1,up=FALSE 1451606401500000000
"""


@pytest.mark.parametrize("name", ["t.lp", "t.lp.gz"])
def test_each_kind_of_value_is_read_as_it_states(tmp_path: Path, name: str) -> None:
    first, second = loaded(tmp_path, CPU, name, measurement="cpu")
    assert (str(first.pop("time")), str(second.pop("time"))) == (
        "2016-01-01 00:00:00",
        "2016-01-01 00:00:01.500000",
    )
    note = 'a "b", c=d \\ \\n'
    assert first == {
        "host": "web 1", "dc": "a=b", "usage": 1.5, "n": -2, "big": 2**63 - 1, "up": True, "note": note
    }  # fmt: skip
    assert second == {
        "host": "web,2", "dc": None, "usage": 5.0, "n": None, "big": None, "up": False, "note": None
    }  # fmt: skip


def test_rows_values_and_what_tells_datasets_apart(tmp_path: Path) -> None:
    (tmp_path / "t.lp").write_text(CPU)
    one, other = dataset("t.lp", measurement="cpu"), dataset("t.lp", measurement="mem")
    found = write_rows(one, tmp_path, tmp_path / "rows.arrow")
    fields = {"time": 2, "host": 2, "dc": 1, "usage": 2, "n": 1, "big": 1, "up": 2, "note": 1}
    assert found["tables"] == {"own": {"rows": 2, "fields": fields}}
    assert one.flags() != other.flags()
    assert dataset("t.csv").flags() == ("--sha256=None", "--table=own")


@pytest.mark.parametrize(
    ("precision", "time"), [("s", "1451606400"), ("ms", "1451606400000"), (None, "1451606400000000000")]
)
def test_the_unit_of_times_is_declared(tmp_path: Path, precision: str | None, time: str) -> None:
    [row] = loaded(tmp_path, f"m f=1 {time}\r\n", precision=precision)
    assert str(row["time"]) == "2016-01-01 00:00:00"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("m f=1", "line 2: the point has no time"),
        ("m 1", "line 2: 'm 1' is not MEASUREMENT"),
        ("m f= 1", "line 2: 'm f= 1' is not MEASUREMENT"),
        ("m,t f=1 1", "line 2: .* is not MEASUREMENT"),
        ('m f="a 1', "line 2: .* is not MEASUREMENT"),
        ("m f=1,f=2 1", 'line 2: the point has "f" twice'),
        ("m,f=a f=1 1", 'line 2: the point has "f" twice'),
        ("m time=1 1", 'line 2: the point has "time" twice'),
        ("m f=yes 1", "line 2: 'yes' is not exactly"),
        ("m f=9223372036854775808i 1", "line 2: '9223372036854775808i' is not exactly"),
        ("m f=-1u 1", "line 2: '-1u' is not exactly"),
        ("m f=1e400 1", "line 2: '1e400' is not exactly"),
        ("m f=9007199254740993 1", "line 2: '9007199254740993' is not exactly"),
        ("m f=0.123456789012345678 1", "line 2: '0.123456789012345678' is not exactly"),
        ("m f=9007199254740993.0 1", "line 2: '9007199254740993.0' is not exactly"),
        ("m f=1e-400 1", "line 2: '1e-400' is not exactly"),
        ('n f="a\nm f=1 1\nb" 1', "line 2: a text has a line break, or a quote is not closed"),
        ("m f=NaN 1", "line 2: 'NaN' is not exactly"),
        ("m f=" + "1" * 5000 + " 1", "line 2: '1111"),
        ("m f=1i 1", 'line 2: "f" has the kind integer, and float in a line before'),
        ("m g=1 9223372036854775808", "line 2: the time 9223372036854775808 ns is beyond 64 bits"),
        (
            "m g=1 1451606400000000001",
            'the column "time" has 1 value that is not exactly a timestamp in micro',
        ),
        ("n f=1 1", "has the measurements m, n; a dataset is one of them"),
        ("n f=\udcff 1", "line 2: it is not UTF-8"),
    ],
)
def test_anything_else_is_refused_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "t.lp").write_bytes(f"m f=1 0\n{line}\n".encode(errors="surrogateescape"))
    with pytest.raises(RequestError, match=message):
        write_rows(dataset("t.lp"), tmp_path, tmp_path / "rows.arrow")
    assert not list(tmp_path.rglob("*.part"))


def test_a_file_without_the_measurement_and_one_that_is_cut_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match='no measurement "cup"') as caught:
        loaded(tmp_path, CPU, measurement="cup")
    assert caught.value.hint == 'Did you mean "cpu"?'
    with pytest.raises(RequestError, match="has no points"):
        loaded(tmp_path, "# nothing\n")
    (tmp_path / "t.lp.gz").write_bytes(gzip.compress(CPU.encode() * 1000)[:-20])
    with pytest.raises(RequestError, match=r"the file cannot be read \(.*end-of-stream"):
        write_rows(dataset("t.lp.gz"), tmp_path, tmp_path / "rows.arrow")
    with pytest.raises(ValueError, match="for line protocol alone"):
        dataset("t.csv", measurement="cpu")


def test_a_declared_type_replaces_that_of_the_file(tmp_path: Path) -> None:
    assert loaded(tmp_path, "m n=1i 0\n", columns={"n": "text"})[0]["n"] == "1"


NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\n\r\\"), min_size=1, max_size=6
) | st.sampled_from(["a b", "a,b", "a=b", "a\\,b", '"', "é"])
VALUES = (
    st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=8)
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)


def written(value: Value) -> str:
    match value:
        case bool():
            return str(value)
        case int():
            return f"{value}i"
        case float():
            return repr(value)
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def escaped(name: str) -> str:
    return re.sub(r"([,= ])", r"\\\1", name)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    NAMES,
    st.dictionaries(NAMES, NAMES, max_size=3),
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=4),
    st.integers(-(10**18), 10**18),
)
def test_a_point_that_is_written_is_read_again(
    name: str, tags: dict[str, str], fields: dict[str, Value], time: int
) -> None:
    fields = {f"f{name}": value for name, value in fields.items()}
    tags = {f"t{tag}": value for tag, value in tags.items()}
    line = re.sub(r"([, ])", r"\\\1", name)
    line += "".join(f",{escaped(name)}={escaped(value)}" for name, value in tags.items())
    line += " " + ",".join(f"{escaped(name)}={written(value)}" for name, value in fields.items())
    values = point(f"{line} {time}")
    assert measurement(line) == name
    assert {name: value for name, (_, value) in values.items()} == {"time": time, **tags, **fields}
    assert [type(value) for _, value in values.values()] == [
        int,
        *map(type, tags.values()),
        *map(type, fields.values()),
    ]
