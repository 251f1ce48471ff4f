"""Labels of rows, broken into lines: on one line they would be cut, and a flag with them."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence

WIDTH = 22
"""Characters of a line that fit in ``theme.LABEL_LIMIT``."""
LINE_HEIGHT = 13
"""Pixels of one line."""
BETWEEN = 10
"""Pixels between the labels of two rows."""


def lines(label: str) -> list[str]:
    """Return the lines of a label: the system, its flag, and each level that varies.

    >>> lines("OpenTSDB 2.4.1 on HBase 2.5.7 (answers differ), arm vanilla")
    ['OpenTSDB 2.4.1 on', 'HBase 2.5.7', '(answers differ)', 'arm vanilla']
    """
    parts = label.replace(" (", ", (").split(", ")
    return [line for part in parts for line in textwrap.wrap(part, WIDTH, break_on_hyphens=False) or [""]]


def expression(labels: Sequence[str]) -> str:
    """Return what an axis shows for each label, as Vega reads it."""
    return f"({json.dumps({label: lines(label) for label in labels}, ensure_ascii=False)})[datum.label]"


def height(labels: Sequence[str], least: int) -> int:
    """Return the pixels of a row, so that no label runs into the next one."""
    most = max(len(lines(label)) for label in labels)
    return max(least, LINE_HEIGHT * most + BETWEEN)
