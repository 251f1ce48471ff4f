"""Answer SQL queries over the results database, which they cannot change."""

# ruff: noqa: S608 - names of tables come from record.tables

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.errors import RequestError, command, nearest
from benchbook.record import database, duckdb_file, folder
from benchbook.record.folder import Say, tell
from benchbook.record.tables import BATCH_ROWS, BY_NAME, TABLES, literal

if TYPE_CHECKING:
    import duckdb
    import polars as pl

PAGE = "docs/results.md"
FOREIGN = ("INTERVAL", "BIT", "TIME WITH TIME ZONE")
"""Types of DuckDB that Polars does not have."""


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
            return _plain(_known(connection.sql(text)).pl(BATCH_ROWS))
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


def _known(answer: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return an answer with text in place of types that Polars does not have, such as the interval of two times."""
    kinds = [str(kind) for kind in answer.types]
    if not any(kind in FOREIGN for kind in kinds):
        return answer
    names = [f'"{name.replace(chr(34), chr(34) * 2)}"' for name in answer.columns]
    return answer.project(
        ", ".join(
            f"{name}::VARCHAR AS {name}" if kind in FOREIGN else name
            for name, kind in zip(names, kinds, strict=True)
        )
    )


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
