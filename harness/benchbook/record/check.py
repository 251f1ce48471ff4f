"""The kinds of checks outside the timed phases. Later stages decide by the kind; the name is for readers."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal[
    "rows", "values", "points", "acknowledged", "optional", "answers", "timed", "reads", "objects", "exhausted",
    "limits", "listening", "other",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)

# Runs that were recorded before checks had a kind.

_STARTS: tuple[tuple[str, Kind], ...] = (
    ("values read back from ", "optional"),
    ("rows ", "rows"), ("values ", "values"), ("points ", "points"),
    ("acknowledged ", "acknowledged"),
    ("answers kept", "answers"),
    ("long reads ", "reads"), ("short reads ", "reads"),
    ("objects left ", "exhausted"), ("objects ", "objects"), ("deleted objects ", "objects"),
    ("digest of the objects ", "objects"),
    ("devices with a limit ", "limits"), ("processes of the system outside ", "limits"),
    ("memory limit ", "limits"), ("CPU limit ", "limits"),
    ("addresses beyond loopback", "listening"),
)  # fmt: skip
"""Start of the name of a check → its kind, for records without one; the first that fits."""


def of_older(name: str) -> Kind:
    """Return the kind of a check that was recorded without one.

    >>> of_older("rows in cpu"), of_older("values read back from benchmark, not required")
    ('rows', 'optional')
    """
    return next((kind for start, kind in _STARTS if name.startswith(start)), "other")


def completed(table: str) -> str:
    """Return the REPLACE clause of a query that reads a table, also one that an older Benchbook wrote."""
    if table != "checks":
        return ""
    cases = " ".join(f"WHEN starts_with(name, '{start}') THEN '{kind}'" for start, kind in _STARTS)
    return f"REPLACE (coalesce(kind, CASE {cases} ELSE 'other' END) AS kind)"
