"""Print rows as a table for people or as JSON for programs."""

from __future__ import annotations

import json
import shutil
import sys
from typing import Any

from benchbook.host.terminal import BOLD, NORMAL, visible

Row = dict[str, Any]
TOO_WIDE = 2
"""Tables wider than this many terminals are printed row by row."""


def show_differing(rows: list[Row], as_json: bool, empty: str = "nothing to show") -> None:
    """Print rows as ``show`` does, and what all of them share once above them."""
    common = {
        key: value
        for key, value in (rows[0].items() if len(rows) > 1 and not as_json else ())
        if all(row[key] == value for row in rows)
    }
    if common := {key: shown(value) for key, value in common.items()}:
        stated = ", ".join(f"{key} = {value}" for key, value in common.items() if value)
        print(*([f"Equal in all rows: {stated}"] if stated else []), sep="\n", end="\n" if stated else "")
        rows = [{key: value for key, value in row.items() if key not in common} for row in rows]
    show(rows, as_json, empty)


def show(rows: list[Row], as_json: bool, empty: str = "nothing to show") -> None:
    """Print rows that share their keys; print ``empty`` if there are no rows."""
    if as_json:
        print(json.dumps(rows, indent=1, default=str, ensure_ascii=False))
        return
    if not rows:
        print(empty)
        return
    texts = [[shown(value) for value in row.values()] for row in rows]
    widths = [max(map(_width, column)) for column in zip(list(rows[0]), *texts, strict=True)]
    # Piped output is for grep and diff, so it is not wrapped.
    screen = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    if screen is None or sum(widths) + len(widths) - 1 <= screen:
        _print_columns(rows, texts, widths)
    else:
        _print_wrapped(rows, texts)


def _print_columns(rows: list[Row], texts: list[list[str]], widths: list[int]) -> None:
    """Print a table that fits. Avoid rich, whose import takes longer than most commands."""
    numbers = _numeric(rows)

    def line(cells: list[str]) -> str:
        columns = zip(cells, widths, numbers, strict=True)
        padded = (cell.rjust(width) if number else cell.ljust(width) for cell, width, number in columns)
        return " ".join(padded).rstrip()

    header = line(list(rows[0]))
    print(f"{BOLD}{header}{NORMAL}" if sys.stdout.isatty() else header)
    for cells in texts:
        for part in zip(*_lines(cells), strict=True):
            print(line(list(part)))


def _width(cell: str) -> int:
    return max(map(len, cell.splitlines()), default=0)


def _lines(cells: list[str]) -> list[list[str]]:
    """Return the lines of each cell, padded to the same number."""
    split = [cell.splitlines() or [""] for cell in cells]
    most = max(map(len, split))
    return [[*lines, *[""] * (most - len(lines))] for lines in split]


def _numeric(rows: list[Row]) -> list[bool]:
    return [all(isinstance(row[name], int | float) for row in rows) for name in rows[0]]


def _print_wrapped(rows: list[Row], texts: list[list[str]]) -> None:
    """Print a table that is wider than the terminal: with folded cells, or row by row if it is far too wide."""
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, number in zip(rows[0], _numeric(rows), strict=True):
        table.add_column(name, justify="right" if number else "left", overflow="fold")
    for cells in texts:
        table.add_row(*map(Text, cells))
    unfolded = console.options.update_width(TOO_WIDE * console.width + 1)
    if Measurement.get(console, unfolded, table).maximum <= TOO_WIDE * console.width:
        console.print(table)
        return
    for place, cells in enumerate(texts):
        if place:
            console.print()
        block = Table.grid(padding=(0, 2))
        block.add_column(style="bold")
        block.add_column(overflow="fold")
        for name, cell in zip(rows[0], cells, strict=True):
            if cell:
                block.add_row(name, Text(cell))
        console.print(block)


def shown(value: object) -> str:
    """Return a value as text for display."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict | list):
        return visible(json.dumps(value, default=str, ensure_ascii=False))
    return visible(str(value))
