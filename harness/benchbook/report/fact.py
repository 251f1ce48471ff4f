"""Facts of run.json as texts: nested values become one line each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from benchbook.report import quantity

LONGEST = 160
"""Characters of a fact that a table shows."""


def text(value: Any, key: str = "") -> str:
    """Return one fact as a text; bytes and seconds, known by the end of their key, get their unit.

    >>> text(True), text(None), text(25_000_000_000, "memory_bytes"), text(["a", "b"])
    ('yes', 'unknown', '25.0 GB', 'a, b')
    """
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and (key == "bytes" or key.endswith("_bytes")):
        return quantity.text(float(value), "B")
    if isinstance(value, float) and key.endswith("_seconds"):
        return quantity.text(value, "s")
    if isinstance(value, float):
        return f"{value:.6g}".replace("e-0", "e-").replace("e+0", "e+")
    if isinstance(value, list):
        written = ", ".join(text(one) for one in value)
    elif isinstance(value, dict):
        written = json.dumps(value, ensure_ascii=False, sort_keys=True)
    else:
        written = str(value)
    return written if len(written) <= LONGEST else written[: LONGEST - 1] + "…"


def lines(facts: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield (path in words, text) for every fact of a nested mapping, in its order.

    >>> list(lines({"cpu": {"cores": 2}}))
    [('cpu: cores', '2')]
    """
    if isinstance(facts, dict) and facts:
        for key, value in facts.items():
            yield from lines(value, (*path, str(key)))
        return
    last = path[-1] if path else ""
    first, *rest = [part.replace("_", " ") for part in path] or [""]
    yield f"{first}: {' '.join(rest)}" if rest else first, text(facts, last)


def headed(name: str) -> str:
    """Return a name as the head of a row: a capital letter first, and short forms in capitals.

    >>> headed("operating_system"), headed("cpu"), headed("SMT")
    ('Operating system', 'CPU', 'SMT')
    """
    words = name.replace("_", " ")
    return words.upper() if words in ("cpu", "numa", "smt") else words[:1].upper() + words[1:]
