"""Line protocol, the text format of InfluxDB: the points of one measurement as a table in Parquet.

Each value states its type, so that the table has the types of the file.
"""

from __future__ import annotations

import gzip
import hashlib
import itertools
import math
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from benchbook.errors import RequestError, unknown
from benchbook.host.filesystem import cache_folder

if TYPE_CHECKING:
    import pyarrow as pa

Precision = Literal["ns", "us", "ms", "s"]
Value = str | int | float | bool
Point = dict[str, tuple[str, Value]]
"""Column → its kind and value."""

PER_SECOND: dict[Precision, int] = {"ns": 10**9, "us": 10**6, "ms": 10**3, "s": 1}
EARLIEST, LATEST = -62_135_596_800, 253_402_300_800
"""The years 1 to 9999, in seconds."""
DIGITS = 17
"""Significant digits that tell any two floats of 64 bits apart."""
BATCH_POINTS = 100_000

# Nothing is tried in two ways, so a long line takes no longer for each of its bytes than a short one.
_NAME = r"(?:\\[,= ]|[^,= ])++"
_TEXT = r'"(?:\\.|[^"\\])*+"'
_FIELD = rf'{_NAME}=(?:{_TEXT}|[^",= ]++)'
MEASUREMENT = re.compile(r"(?:\\[, ]|[^, ])++")
POINT = re.compile(
    rf"{MEASUREMENT.pattern}((?:,{_NAME}={_NAME})*+) ++({_FIELD}(?:,{_FIELD})*+)(?: ++(-?[0-9]{{1,19}}))? *"
)
TAGS = re.compile(rf",({_NAME})=({_NAME})")
FIELDS = re.compile(rf"({_NAME})=({_TEXT}|[^,]++),?")
INTEGER = re.compile(r"[+-]?[0-9]{1,19}i|[0-9]{1,19}u")
WHOLE = re.compile(r"([+-]?[0-9]+)\.?0*")
FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
BOOLEANS = {
    **dict.fromkeys(("t", "T", "true", "True", "TRUE"), True),
    **dict.fromkeys(("f", "F", "false", "False", "FALSE"), False),
}


def parquet(file: Path, wanted: str | None, precision: Precision) -> Path:
    """Return the table of a measurement, made once into the cache; raise RequestError if the file has no such one.

    Without a name, it is the only measurement of the file.
    """
    digest = hashlib.sha256(f"{wanted}\0{precision}\0".encode() + Path(__file__).read_bytes())
    with file.open("rb") as content:
        digest.update(hashlib.file_digest(content, "sha256").digest())
    made = cache_folder(os.environ) / "files" / f"{digest.hexdigest()}.parquet"
    if not made.exists():
        name, kinds = _kinds(file, wanted, precision)
        made.parent.mkdir(parents=True, exist_ok=True)
        part = made.with_suffix(f".{os.getpid()}.part")
        try:
            _write(file, part, name, kinds, precision)
            part.replace(made)
        finally:
            part.unlink(missing_ok=True)
    return made


def points(
    file: Path, wanted: str | None, precision: Precision, found: dict[str, None]
) -> Iterator[tuple[int, Point]]:
    """Yield number of the line and values of each point of a measurement; by default, of the first in the file.

    Adds each measurement of the file to ``found``. Raise RequestError at the first line that is no point.
    """
    number = 0
    try:
        with (gzip.open if file.suffix.lower() == ".gz" else Path.open)(file, "rb") as lines:
            for number, line in enumerate(lines, start=1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if not text or text.startswith("#"):
                    continue
                name = measurement(text)
                found.setdefault(name)
                if name == (next(iter(found)) if wanted is None else wanted):
                    yield number, point(text, precision)
                elif text.count('"') % 2 and POINT.fullmatch(text) is None:
                    raise ValueError("a text has a line break, or a quote is not closed")
    except ValueError as error:
        why = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error
        raise _refused(file, number, str(why)) from None
    except (OSError, EOFError, zlib.error) as error:
        raise _refused(file, number + 1, f"the file cannot be read ({error})") from None


def measurement(line: str) -> str:
    r"""Return the measurement of a point, which is empty for a line that is none.

    >>> measurement(r"a\ b,c=d e=1 0")
    'a b'
    """
    found = MEASUREMENT.match(line)
    return re.sub(r"\\([, ])", r"\1", found[0]) if found else ""


def point(line: str, precision: Precision = "ns") -> Point:
    r"""Return the values of a point; raise ValueError if the line is none that systems can hold.

    >>> point(r"cpu,host=a\ b usage=1.5,n=2i,up=t 10")["n"]
    ('integer', 2)
    """
    parts = POINT.fullmatch(line)
    if parts is None:
        raise ValueError(f"{line[:60]!r} is not MEASUREMENT,TAG=VALUE FIELD=VALUE TIME")
    tags, fields, time = parts.groups()
    if time is None:
        raise ValueError("the point has no time")
    if abs(int(time)) >= 2**63 or not EARLIEST <= int(time) / PER_SECOND[precision] < LATEST:
        raise ValueError(f"the time {time} {precision} is beyond 64 bits or the years 1 to 9999")
    named: list[tuple[str, tuple[str, Value]]] = [("time", ("time", int(time)))]
    named += [(_plain(name), ("tag", _plain(value))) for name, value in TAGS.findall(tags)]
    named += [(_plain(name), _value(value)) for name, value in FIELDS.findall(fields)]
    values = dict(named)
    if len(values) < len(named):
        names = [name for name, _ in named]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f'the point has "{twice}" twice')
    return values


def _plain(name: str) -> str:
    return re.sub(r"\\([,= ])", r"\1", name) if "\\" in name else name


def _value(text: str) -> tuple[str, Value]:
    if text.startswith('"'):
        return "text", re.sub(r'\\(["\\])', r"\1", text[1:-1])
    if text in BOOLEANS:
        return "boolean", BOOLEANS[text]
    if INTEGER.fullmatch(text):
        if -(2**63) <= (whole := int(text[:-1])) < 2**63:
            return "integer", whole
    elif FLOAT.fullmatch(text):
        number, digits = float(text), re.sub(r"[eE].*|\D", "", text).lstrip("0")
        integral = WHOLE.fullmatch(text)
        exact = len(digits) <= DIGITS and (integral is None or int(integral[1]) == number)
        if exact and math.isfinite(number) and bool(number) == bool(digits):  # a tiny number becomes 0
            return "float", number
    raise ValueError(
        f"{text[:60]!r} is not exactly a float or an integer (i, u) of 64 bits, a boolean or a quoted text"
    )


def _kinds(file: Path, wanted: str | None, precision: Precision) -> tuple[str, dict[str, str]]:
    """Return the measurement and the kind of each of its columns."""
    kinds: dict[str, str] = {}
    found: dict[str, None] = {}
    for number, values in points(file, wanted, precision, found):
        for name, (kind, _) in values.items():
            if kinds.setdefault(name, kind) != kind:
                why = f'"{name}" has the kind {kind}, and {kinds[name]} in a line before'
                raise _refused(file, number, why)
    if not found:
        raise RequestError(f"source.file: {file} has no points.", "Use a file with at least one point.")
    if wanted is None and len(found) > 1:
        raise RequestError(
            f"source.file: {file} has the measurements {', '.join(sorted(found)[:20])}; a dataset is one of them.",
            f'Add measurement = "{min(found)}" to [source]; more datasets may use the same file.',
        )
    name = next(iter(found)) if wanted is None else wanted
    if name not in found:
        raise unknown("measurement", name, found, f"source.file: {file}")
    return name, kinds


def _write(file: Path, target: Path, wanted: str, kinds: dict[str, str], precision: Precision) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types: dict[str, pa.DataType] = {
        "time": pa.timestamp(precision), "tag": pa.string(), "text": pa.string(), "integer": pa.int64(),
        "float": pa.float64(), "boolean": pa.bool_(),
    }  # fmt: skip
    schema = pa.schema([(name, types[kind]) for name, kind in kinds.items()])
    rows = (
        {name: value for name, (_, value) in values.items()}
        for _, values in points(file, wanted, precision, {})
    )
    with pq.ParquetWriter(target, schema) as written:
        while batch := list(itertools.islice(rows, BATCH_POINTS)):
            written.write_table(pa.Table.from_pylist(batch, schema))


def _refused(file: Path, line: int, why: str) -> RequestError:
    return RequestError(
        f"source.file: {file}, line {line}: {why}.",
        "Correct the line. docs/adding-a-dataset.md says what is read of line protocol.",
    )
