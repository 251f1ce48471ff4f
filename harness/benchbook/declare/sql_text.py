"""Names and texts in SQL, of DuckDB and of whatever reads standard SQL."""

from __future__ import annotations


def quoted(name: str) -> str:
    """Return a name as an identifier (``rows``, ``values`` and ``index`` are words of SQL).

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as a string.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"
