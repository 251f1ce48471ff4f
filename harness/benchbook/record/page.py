"""Write the part of docs/results.md that describes the tables, from ``schema.sql``.

``python -m benchbook.record.page`` updates the page; a test fails while it is out of date.
"""

from __future__ import annotations

from pathlib import Path

from benchbook.record.tables import SCHEMA_VERSION, TABLES, Table

PAGE = Path(__file__).resolve().parents[3] / "docs" / "results.md"
HEADING = "## The tables\n"
"""The part of the page above it is written by hand."""


def text() -> str:
    """Return the whole page with its tables as they are declared now."""
    written, _, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    intro = f"\nVersion {SCHEMA_VERSION}, from `harness/benchbook/record/schema.sql`. A column with * is never NULL.\n"
    return written + HEADING + intro + "".join(_section(table) for table in TABLES)


def _section(table: Table) -> str:
    rows = "".join(
        f"| `{column.name}`{' *' if column.required else ''} | {column.type} | {_cell(column.comment)} |\n"
        for column in table.columns
    )
    return f"\n### {table.name}\n\n{table.comment}\n\n| column | type | meaning |\n|---|---|---|\n{rows}"


def _cell(comment: str) -> str:
    return comment.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
