"""Answer SQL queries over the results database, which they cannot change."""

# ruff: noqa: S608 - names of tables come from record.tables

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.declare.sql_text import literal, quoted
from benchbook.errors import RequestError, command, nearest
from benchbook.record import database, duckdb_file, folder
from benchbook.record.folder import Say, tell
from benchbook.record.tables import BATCH_ROWS, BY_NAME, TABLES

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    from duckdb.sqltypes import DuckDBPyType

PAGE = "docs/results.md"
PLAIN = frozenset(
    [
        "boolean",
        "tinyint",
        "smallint",
        "integer",
        "bigint",
        "utinyint",
        "usmallint",
        "uinteger",
        "ubigint",
        "hugeint",
        "float",
        "double",
        "decimal",
        "varchar",
        "blob",
        "uuid",
        "enum",
    ]
) | {"NULL", "sqlnull"}
"""Types of DuckDB, each value of which Polars and Python have."""
TIMES = frozenset({"date", "timestamp", "timestamp with time zone"})
NESTED = frozenset({"list", "array", "struct", "map"})
MICROSECONDS_OF_DAY = 24 * 60 * 60 * 1_000_000
FIRST_DAY, LAST_DAY = (date(year, 1, 1).toordinal() - date(1970, 1, 1).toordinal() for year in (2, 9999))
"""Bounds of the times that Python has in each time zone, in days since 1970."""


def sql(results: Path, text: str, say: Say = tell) -> pl.DataFrame:
    """Return the rows of a SELECT statement, which reaches nothing but the tables.

    Raises RequestError for a statement that is wrong, does anything but read, or reaches for a file or the network,
    for several at once, and if there are no results. It carries DuckDB's message and the nearest name of a table or
    column.
    """
    import duckdb

    text = _one_query(text)
    with database.open(results, read_only=True, say=say) as connection:
        try:
            answer = connection.sql(text)
            with _conversion():
                return _plain(_known(answer))
        except duckdb.FatalException:
            raise
        except duckdb.Error as error:
            if "Corrupt database file" in str(error):
                raise
            raise _mistake(error) from error


def tables(results: Path, say: Say = tell) -> pl.DataFrame:
    """Return every table with its number of rows and its comment."""
    counts = " UNION ALL ".join(
        f'SELECT {number} AS place, \'{table.name}\' AS "table", count(*) AS "rows" FROM {table.name}'
        for number, table in enumerate(TABLES)
    )
    described = (
        f'SELECT "table", "rows", comment FROM ({counts}) JOIN duckdb_tables() ON table_name = "table"'
    )
    return sql(results, f"{described} ORDER BY place", say)


def trial(results: Path, trial_id: str, say: Say = tell) -> dict[str, Any] | None:
    """Return a trial in full: its ``trial.json`` or, for a run that has only tables, its rows; None if unknown."""
    run, _, index = trial_id.partition("/")
    file = results / "runs" / run / folder.TRIALS_FOLDER / index / folder.TRIAL_FILE
    if file.exists():
        return folder.read_object(file)
    chosen = f"WHERE trial_id = {literal(trial_id)}"
    found = sql(results, f"SELECT * FROM trials {chosen}", say).to_dicts()
    if not found:
        return None
    levels = sql(results, f"SELECT factor, level FROM levels {chosen}", say).rows()
    parts = {
        name: sql(results, f"SELECT * EXCLUDE (trial_id) FROM {name} {chosen}", say).to_dicts()
        for name in ("phases", "measurements", "errors", "checks")
    }
    return {**found[0], "levels": dict(levels), **parts}


def rows(found: pl.DataFrame) -> list[dict[str, Any]]:
    """Return an answer as values of Python; raise RequestError if one of them is none."""
    with _conversion():
        return found.to_dicts()


@contextlib.contextmanager
def _conversion() -> Iterator[None]:
    """Turn a failure to convert values into a RequestError; Polars' panics are no ordinary exceptions."""
    import duckdb
    import polars as pl

    try:
        yield
    except (duckdb.Error, RequestError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise RequestError(
            f"A value of the answer cannot be shown: {first}.", "Cast its column to text: column::VARCHAR."
        ) from None


def _known(answer: duckdb.DuckDBPyRelation) -> pl.DataFrame:
    """Return the rows of an answer, with text in place of types and times that Polars or Python lacks."""
    as_text = {
        place for place, kind in enumerate(answer.types) if kind.id not in TIMES and not _is_plain(kind)
    }
    found = _as_text(answer, as_text).pl(BATCH_ROWS)
    out_of_range = {place for place, held in enumerate(found.get_columns()) if _is_out_of_range(held)}
    return _as_text(answer, as_text | out_of_range).pl(BATCH_ROWS) if out_of_range else found


def _as_text(answer: duckdb.DuckDBPyRelation, places: set[int]) -> duckdb.DuckDBPyRelation:
    if not places:
        return answer
    return answer.project(  # by place, as two columns may have one name
        ", ".join(
            f"#{place + 1}{'::VARCHAR' if place in places else ''} AS {quoted(name)}"
            for place, name in enumerate(answer.columns)
        )
    )


def _is_out_of_range(times: pl.Series) -> bool:
    """Return whether a column has times that Python lacks: ``infinity``, or years up to DuckDB's 294247."""
    import polars as pl

    if not isinstance(times.dtype, pl.Date | pl.Datetime):
        return False
    day = 1 if isinstance(times.dtype, pl.Date) else MICROSECONDS_OF_DAY
    numbers = times.to_physical()
    return bool(((numbers < FIRST_DAY * day) | (numbers > LAST_DAY * day)).any())


def _is_plain(kind: DuckDBPyType) -> bool:
    if kind.id in NESTED:
        inner = [
            held for _, held in kind.children if not isinstance(held, int | list)
        ]  # an array has its size
        return all(_is_plain(held) for held in inner)
    return kind.id in PLAIN


def _plain(rows: pl.DataFrame) -> pl.DataFrame:
    """Return sums of whole numbers as integers: DuckDB gives them 128 bits, which arrive as decimals."""
    import polars as pl

    wide = [name for name, kind in rows.schema.items() if isinstance(kind, pl.Decimal) and kind.scale == 0]
    for name in wide:
        fits = rows[name].cast(pl.Int64, strict=False)
        if fits.null_count() == rows[name].null_count():
            rows = rows.with_columns(fits)
    return rows


ALLOWED = "Allowed are SELECT, FROM, WITH, VALUES, DESCRIBE, SUMMARIZE and SHOW, and EXPLAIN of one of these"
_GAP = r"(?:\s|--[^\n]*\n|/\*.*?\*/)*"
_EXPLAIN = re.compile(
    rf"{_GAP}EXPLAIN\b{_GAP}(?P<options>ANALY[SZ]E\b|\(\s*(?:ANALY[SZ]E|FORMAT)\b[\w\s,]*\))?(?P<query>.*)",
    re.IGNORECASE | re.DOTALL,
)


def _one_query(text: str) -> str:
    """Return the text if it is one statement that only reads; raise RequestError for any other.

    DuckDB carries out what EXPLAIN ANALYZE explains, so the explained statement must be one that reads, and
    the text is composed again from it.
    """
    kind = _kind(text)
    if kind == "EXPLAIN" and (found := _EXPLAIN.fullmatch(text)):
        kind = _kind(found["query"])
        text = f"EXPLAIN {found['options'] or ''} {found['query']}"
    if kind != "SELECT":
        raise RequestError(
            f"{kind} is not allowed: this command only reads results. {ALLOWED}.",
            f"`{command('export')}` writes tables to files.",
        )
    return text


def _kind(text: str) -> str:
    """Return the kind of the only statement in a text; raise RequestError for several, none and a wrong one."""
    import duckdb

    # IMPORT DATABASE reads files while it is parsed, so the parser must not reach any.
    with duckdb.connect(":memory:", config={**duckdb_file.CLOSED}) as parser:
        try:
            found = parser.extract_statements(text)
        except duckdb.Error as error:
            raise _mistake(error) from error
    if len(found) != 1:
        raise RequestError(
            f"This command takes one SQL statement; found {len(found) or 'none'}.",
            f"For example: SELECT system, count(*) FROM trials GROUP BY 1. {PAGE} describes the tables.",
        )
    return str(found[0].type.name)


def _mistake(error: Exception) -> RequestError:
    message = " ".join(line.strip() for line in str(error).split("\n\n")[0].splitlines())
    if "Permission Error" in message:
        message = f"This command reads only the tables of the results, no file and no network: {message}"
    column = re.search(r'column "([^"]+)"|does not have a column named "([^"]+)"', message)
    if "Catalog Error" in message and (table := re.search(r"Table with name (\S+) does not exist", message)):
        guess = nearest(table[1], BY_NAME)
        meant = f'Did you mean the table "{guess}"? ' if guess else ""
        return RequestError(message, f"{meant}The tables are {', '.join(BY_NAME)}.")
    if "Binder Error" in message and column:
        name = column[1] or column[2]
        known = {known.name for table in TABLES for known in table.columns}
        guess = nearest(name, known)
        where = [table.name for table in TABLES if any(known.name == guess for known in table.columns)]
        if guess and guess != name:
            return RequestError(message, f'Did you mean the column "{guess}" (of {", ".join(where)})?')
        if guess:
            return RequestError(message, f'The column "{guess}" is in the tables {", ".join(where)}.')
    return RequestError(message, f"The tables are {', '.join(BY_NAME)}; {PAGE} describes every column.")
