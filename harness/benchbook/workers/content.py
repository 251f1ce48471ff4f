"""Tables from a file, and questions about them from files: they have the form of a set of questions.

The columns of a table come from the schema of its rows, and the texts of a question from its specification.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from benchbook.workers.engine import FailedError, Row, Specification
from benchbook.workers.questions import QuestionSet, add, of_table

if TYPE_CHECKING:
    import pyarrow as pa

TABLE_KEY = b"table"
"""Key of a schema's metadata with the name of the table."""
_PARTS = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?")
SIGNIFICANT = 6
"""Digits of a float by which rows of an answer without an order are sorted."""
NOISE = 1e-9
"""Relative distance from a whole number below which a float is that number: systems add in different orders."""


def of_schema(schema: pa.Schema) -> QuestionSet:
    """Return the set of the table whose rows have this schema."""
    import pyarrow as pa

    def sql_type(kind: pa.DataType) -> str:
        if pa.types.is_timestamp(kind):
            return "TIMESTAMP"
        return {
            pa.int64(): "BIGINT", pa.float64(): "DOUBLE PRECISION", pa.bool_(): "BOOLEAN", pa.date32(): "DATE",
        }.get(kind, "TEXT")  # fmt: skip

    return _set(
        schema.metadata[TABLE_KEY].decode(),
        columns=", ".join(f'"{one.name}" {sql_type(one.type)}' for one in schema),
        numbers=tuple(schema.names),
    )


def know(asked: Iterable[Specification]) -> None:
    """Make the tables known that questions from files are about, where no load did it."""
    for one in asked:
        if one.statements and of_table(one.table) is None:
            add(_set(one.table))


def _set(table: str, columns: str = "", numbers: tuple[str, ...] = ()) -> QuestionSet:
    return QuestionSet(
        tables=(table,),
        dialects=frozenset(),
        text=_text,
        compared=compared,
        columns=columns,
        numbers=numbers,
        quotes=True,
        convert=lambda batch: batch,
    )


def _text(asked: Specification, dialect: str) -> str:
    """Return the text of a question; raise FailedError if it has none in the dialect."""
    statements = asked.statements or {}
    found = statements.get(dialect, statements.get(""))
    if found is None:
        raise FailedError(f"the question {asked.type} has no text for {dialect}")
    return found


def compared(asked: Specification, answer: Sequence[Sequence[Any]]) -> list[Row]:
    """Return the number of rows of an answer and every value; without a declared order, of the sorted rows."""
    rows = [[_plain(value) for value in row] for row in answer]
    if not asked.ordered:
        rows.sort(key=_exact_first)
    found: list[Row] = [(0, "rows", len(rows))]
    for place, row in enumerate(rows):
        found += [(place, f"column {column}", value) for column, value in enumerate(row)]
    return found


def _plain(value: Any) -> int | float | str:
    """Return a value as all systems can: decimals are floats, times are texts without a fraction of zeros."""
    if value is None:
        return "NULL"
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, int | float):
        return value
    text = value.isoformat(" ") if isinstance(value, datetime) else str(value)
    if time := _PARTS.fullmatch(text):
        fraction = (time[3] or "").rstrip("0")
        return f"{time[1]} {time[2]}{'.' if fraction else ''}{fraction}"
    return text


def _exact_first(row: Sequence[int | float | str]) -> tuple[list[tuple[int, Any]], list[float]]:
    """Return the key of a row: its texts and whole numbers, then its floats, whose last digits differ by system."""
    exact: list[tuple[int, Any]] = []
    floats: list[float] = []
    for value in row:
        if isinstance(value, str):
            exact.append((1, value))
        elif math.isfinite(value) and abs(value - round(value)) <= NOISE * max(1.0, abs(value)):
            exact.append((0, round(value)))
        else:
            floats.append(float(f"{value:.{SIGNIFICANT}g}"))
    return exact, floats
