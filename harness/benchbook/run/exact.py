"""Values of a file that the type of their column cannot hold: found before a row is loaded, so none is changed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchbook.declare import data_file
from benchbook.declare.data_file import SQL_TYPES, Kind
from benchbook.declare.dataset import Dataset
from benchbook.declare.sql_text import quoted
from benchbook.errors import RequestError

HOLDS: dict[Kind, str] = {
    "integer": "an integer of 64 bits",
    "float": "a finite float of 64 bits",
    "text": "a text without NUL characters",
    "boolean": "a boolean",
    "date": "a date of the years 1 to 9999",
    "timestamp": "a timestamp in microseconds of the years 1 to 9999",
}
"""What a column of a type holds in every system."""
DIGITS = 17
"""Significant digits that tell any two floats of 64 bits apart; a text with more is another number."""


def require_exact(
    dataset: Dataset, folder: Path, columns: Mapping[str, tuple[str, Kind]], run: Callable[[str], Any]
) -> None:
    """Raise RequestError if a value of a column would become another one in a system.

    A column that is declared as a float may have any number: it becomes the nearest float.
    """
    source = dataset.source
    assert source is not None
    types = data_file.described(source, dataset.columns, folder)
    if source.typed:
        read = data_file.relation(source, dataset.columns, folder)
    else:
        read, types = data_file.texts(source, types, folder), dict.fromkeys(types, "VARCHAR")
    found = []
    for name, kind in columns.values():
        column = quoted(name)
        odd = _odd(column, types[name], kind, nearest=dataset.columns.get(name) == "float")
        found += [f"count(*) FILTER ({odd})", f"min(CAST({column} AS VARCHAR)) FILTER ({odd})"]
    counted = run(f"SELECT {', '.join(found)} FROM {read}").fetchone()  # noqa: S608
    for (name, kind), number, example in zip(columns.values(), counted[::2], counted[1::2], strict=True):
        if number:
            are = "value that is" if number == 1 else "values that are"
            raise RequestError(
                f'source.file: the column "{name}" has {number:,} {are} not exactly {HOLDS[kind]}, such as '
                f"{example[:60]!r}.",
                "Correct the file, or declare the type of the column: "
                f'[columns] {key(name)} = "text", or "float" for the nearest finite float.',
            )


def key(name: str) -> str:
    """Return a name as a key of TOML.

    >>> key("count"), key("Temperature C")
    ('count', '"Temperature C"')
    """
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _odd(value: str, sql_type: str, kind: Kind, *, nearest: bool) -> str:
    """Return the condition under which a value cannot be of a type, in DuckDB's SQL; ``value`` is its name there."""
    cast = f"TRY_CAST({value} AS {SQL_TYPES[kind]})"
    if sql_type in ("VARCHAR", "JSON") or sql_type.startswith("ENUM"):
        odd = _odd_text(f"trim(CAST({value} AS VARCHAR))", kind, nearest=nearest)
    elif kind in ("float", "text"):
        odd = "false"
    else:
        odd = f"CAST({cast} AS {sql_type}) IS DISTINCT FROM {value}"
    within = {
        "float": f"isfinite({cast})",
        "date": f"{cast} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'",
        "timestamp": f"{cast} >= TIMESTAMP '0001-01-01' AND {cast} < TIMESTAMP '9999-12-31' + INTERVAL 1 DAY",
        "text": f"NOT contains({cast}, chr(0))",
    }.get(kind, "true")
    return f"{value} IS NOT NULL AND ({odd} OR NOT coalesce({within}, true))"


def _odd_text(text: str, kind: Kind, *, nearest: bool) -> str:
    """Return the condition under which a text in a file is another value than the one that DuckDB reads."""
    if kind == "integer":
        return f"TRY_CAST({text} AS BIGINT) IS NULL OR NOT regexp_full_match({text}, '[+-]?\\d+(\\.0*)?')"
    if kind == "float" and not nearest:
        digits = f"ltrim(regexp_replace(regexp_replace({text}, '[eE].*', ''), '[^0-9]', '', 'g'), '0')"
        number = f"TRY_CAST({text} AS DOUBLE)"
        whole = f"TRY_CAST({number} AS HUGEINT) = TRY_CAST({text} AS HUGEINT)"
        tiny = f"({number} = 0 AND length({digits}) > 0)"
        return (
            f"length({digits}) > {DIGITS} OR {tiny}"
            f" OR (regexp_full_match({text}, '[+-]?\\d+(\\.0*)?') AND NOT {whole})"
        )
    if kind == "boolean":
        return f"TRY_CAST({text} AS BOOLEAN) IS NULL"
    if kind == "date":
        return f"coalesce(CAST(TRY_CAST({text} AS TIMESTAMP) AS TIME) <> TIME '00:00:00', false)"
    if kind == "timestamp":
        return f"regexp_matches({text}, '\\.\\d{{6}}\\d*[1-9]')"
    return "false"
