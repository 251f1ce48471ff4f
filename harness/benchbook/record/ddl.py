"""The statements that make the tables, and the page that describes them, from their declarations."""

# ruff: noqa: S608 - names of tables and columns come from record.tables; values are bound

from __future__ import annotations

from benchbook.record.tables import SCHEMA_VERSION, TABLES, Table


def quoted(name: str) -> str:
    """Return ``name`` as an SQL identifier (``rows``, ``values`` and ``index`` are words of SQL)."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return ``text`` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def statements() -> list[str]:
    """Return the statements that make every table with its comments, and state the schema version."""
    made = [statement for table in TABLES for statement in _table(table)]
    return [*made, f"INSERT INTO schema_version VALUES ({SCHEMA_VERSION})"]


def _table(table: Table) -> list[str]:
    columns = ", ".join(
        f"{quoted(column.name)} {column.type}{' NOT NULL' if column.required else ''}"
        for column in table.columns
    )
    name = quoted(table.name)
    return [
        f"CREATE TABLE {name} ({columns})",
        f"COMMENT ON TABLE {name} IS {literal(table.comment)}",
        *(
            f"COMMENT ON COLUMN {name}.{quoted(column.name)} IS {literal(column.comment)}"
            for column in table.columns
        ),
    ]
