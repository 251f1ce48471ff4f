"""Digests of the answers of an engine, as ``answered`` events have them (``measure/answered.py``)."""

from __future__ import annotations

from typing import Any

from benchbook.measure.answered import DIFFERENT, alike
from benchbook.workers.engine import Found, Large, Specification
from benchbook.workers.recorder import Event, event


def digest(found: Found) -> dict[str, Any]:
    """Return the digest of an answer: of a large one, its number of rows alone."""
    if isinstance(found, Large):
        return {"numbers": found.rows, "exact": "0", "sum": 0.0, "size": 0.0}
    rows = [row for row in found if row[2] is not None]
    values = [float(row[2] or 0) for row in rows]
    exact = sum(row[0] for row in rows)
    return {"numbers": len(rows), "exact": str(exact), "sum": sum(values), "size": sum(map(abs, values))}


class Seen:
    """The digests of the answers to each query, each with how many answers have it."""

    def __init__(self) -> None:
        self._queries: dict[int, list[dict[str, Any]]] = {}

    def add(self, specification: Specification, found: Found) -> None:
        """Count an answer."""
        new = digest(found)
        known = self._queries.setdefault(specification.id, [])
        same = next((one for one in known if alike(one, new)), None)
        if same is None and len(known) > DIFFERENT:
            same = known[-1]
        elif same is None:
            same = new | ({"numbers": -1} if len(known) == DIFFERENT else {}) | {"answers": 0}
            known.append(same)
        same["answers"] += 1

    def event(self) -> Event:
        """Return what was seen."""
        answers = [{"id": query, **one} for query, known in self._queries.items() for one in known]
        return event("answered", answers=answers)
