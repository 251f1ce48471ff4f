"""Prints rows as a table for people or as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from benchbook.cli.spoken import spoken

if TYPE_CHECKING:
    from rich.table import Table

Row = dict[str, Any]
TOO_WIDE = 2
"""How many times a terminal's width a table may have before its rows stand one below the other."""


def show(rows: list[Row], as_json: bool, empty: str = "nothing to show") -> None:
    """Print rows that share their keys; ``empty`` is what people read where there are none."""
    if as_json:
        print(json.dumps(rows, indent=1, default=str, ensure_ascii=False))
        return
    if not rows:
        print(spoken(empty))
        return
    from rich.console import Console
    from rich.measure import Measurement
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
    unfolded = console.options.update_width(TOO_WIDE * console.width + 1)
    if Measurement.get(console, unfolded, table).maximum > TOO_WIDE * console.width:
        for number, one in enumerate(_one_below_the_other(rows)):
            if number:
                console.print()
            console.print(one)
    else:
        console.print(table)


def _one_below_the_other(rows: list[Row]) -> Iterator[Table]:
    """Yield a small table a row, a line a column; cells without a value are left out."""
    from rich.table import Table
    from rich.text import Text

    for row in rows:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="bold")
        table.add_column(overflow="fold")
        for name, value in row.items():
            if text := shown(value):
                table.add_row(name, Text(text))
        yield table


def shown(value: object) -> str:
    """Return a value as people read it."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict | list):
        return json.dumps(value, default=str, ensure_ascii=False)
    return str(value)
