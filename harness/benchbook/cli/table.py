"""Prints rows as a table for people or as JSON for programs."""

from __future__ import annotations

import json
from typing import Any

from benchbook.cli import spoken

Row = dict[str, Any]


def show(rows: list[Row], as_json: bool, empty: str = "nothing to show") -> None:
    """Print rows that share their keys; ``empty`` is what people read where there are none."""
    if as_json:
        print(json.dumps(rows, indent=1, default=str, ensure_ascii=False))
        return
    if not rows:
        print(spoken.spoken(empty))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Piped output is for grep and diff: no wrapping at a width that nobody sees.
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=400)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in rows[0]:
        numbers = all(isinstance(row[name], int | float) for row in rows)
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(value)) for value in row.values()))
    console.print(table)


def shown(value: object) -> str:
    """Return a value as people read it."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict | list):
        return json.dumps(value, default=str, ensure_ascii=False)
    return str(value)
