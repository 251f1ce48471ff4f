"""Digests of answers: a cheap summary of every timed answer, compared with those of untimed answers.

benchload and the worker in Python write them as ``answered`` events (docs/benchload-events.md). A digest does not
depend on the order of rows: it counts an answer's numbers and texts exactly, and sums its values. The worker imports
this module, so it needs the standard library alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

NEAR = 1e-6
"""Largest difference of the sums of equal answers, relative to their size; benchload has the same."""
DIFFERENT = 3
"""Digests of one query that are kept; an answer with yet another one is wrong."""

Seen = Mapping[str, Any]
"""An entry of an event: ``id`` of the query, ``answers`` with this digest, ``numbers``, ``exact``, ``sum``, ``size``.
"""


def alike(one: Seen, other: Seen) -> bool:
    """Return whether two digests are of equal answers."""
    exact = all(one[key] == other[key] for key in ("numbers", "exact"))
    return exact and abs(one["sum"] - other["sum"]) <= NEAR * max(one["size"], other["size"])


def compared(timed: Iterable[Seen], checked: Iterable[Seen]) -> tuple[int, int]:
    """Return the number of timed answers that were compared, and how many of them are as checked.

    Answers to a query that was not checked are compared with the most frequent one, if they differ.

    >>> right, empty = ({"id": 0, "numbers": n, "exact": "", "sum": 0.0, "size": 0.0} for n in (60, 0))
    >>> compared([right | {"answers": 4}, empty | {"answers": 3}], [right | {"answers": 1}])
    (7, 4)
    """
    right = {one["id"]: one for one in checked}
    by_query: dict[int, list[Seen]] = defaultdict(list)
    for one in timed:
        by_query[one["id"]].append(one)
    total, equal = 0, 0
    for query, digests in by_query.items():
        if query not in right and len(digests) == 1:
            continue
        expected = right.get(query) or max(digests, key=lambda one: one["answers"])
        total += sum(one["answers"] for one in digests)
        equal += sum(one["answers"] for one in digests if alike(one, expected))
    return total, equal


def suspects(timed: Iterable[Seen], number: int) -> tuple[int, ...]:
    """Return the ids of the queries with the fewest numbers in an answer; among equals, of the last ones."""
    fewest: dict[int, int] = {}
    for one in timed:
        fewest[one["id"]] = min(one["numbers"], fewest.get(one["id"], one["numbers"]))
    return tuple(sorted(fewest, key=lambda query: (fewest[query], -query))[:number])
