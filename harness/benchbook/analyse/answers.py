"""Compare answers query by query across systems and trials, because comparing speed requires the same work."""

from __future__ import annotations

import functools
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KEY_COLUMNS = ("time_ns", "host")
"""Columns that identify a row of an answer; all others are values."""
RELATIVE = 1e-9
ABSOLUTE = 1e-9
FEWEST_INSTANCES = 20
MOST_DIFFERENCES = 50
"""Differences that a comparison keeps, beside the first of each query type; it counts all."""

Value = str | int | float | bool | None
Rows = Sequence[tuple[Value, ...]]


@dataclass(frozen=True)
class Answer:
    """One system's answer to one query in one trial."""

    system: str
    trial_id: str
    query_type: str
    query_id: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    arm: str = ""

    @property
    def has_float(self) -> bool:
        """Whether a value is written as a float."""
        return any(isinstance(cell, float) for row in self.rows for cell in row)

    @property
    def keys(self) -> list[int]:
        """The places of the columns that identify a row."""
        return [place for place, name in enumerate(self.columns) if name in KEY_COLUMNS]

    @functools.cached_property
    def by_key(self) -> dict[tuple[Value, ...], tuple[Value, ...]]:
        """Key → row; rows with equal keys get a number, in the order of their values."""
        held: dict[tuple[Value, ...], list[tuple[Value, ...]]] = defaultdict(list)
        places = self.keys
        for row in self.rows:
            held[tuple(row[place] if place < len(row) else None for place in places)].append(row)
        return {
            (*key, number): row
            for key, rows in held.items()
            for number, row in enumerate(sorted(rows, key=_sortable) if len(rows) > 1 else rows)
        }


@dataclass(frozen=True)
class Disagreement:
    """A difference between two answers to one query."""

    query_type: str
    query_id: str
    what: str
    """``value``, ``row`` (only one answer has it) or ``columns``."""
    row: dict[str, Value]
    """The key of the row."""
    column: str | None
    a_system: str
    a: Any
    b_system: str
    b: Any
    trials: tuple[str, str] = ("", "")
    """The trials of both answers."""


@dataclass(frozen=True)
class Agreement:
    """The result of comparing all answers of a run."""

    queries: int
    compared: int
    """Answers that were compared with another answer to the same query."""
    differing: int
    """Number of differences."""
    differences: tuple[Disagreement, ...]
    """The first differences: MOST_DIFFERENCES, and the first of each further query type."""
    differing_types: tuple[str, ...]
    """Query types of all differences."""
    empty_everywhere: tuple[str, ...]
    """Queries that every system answered with no rows. They show nothing, so the comparison fails."""
    unanswered: tuple[str, ...]
    """Queries that a system did not answer, as ``query_id: system``."""
    too_few: tuple[str, ...]
    """Query types with fewer than 20 instances; they do not make the comparison fail."""

    @property
    def ok(self) -> bool:
        """True if the systems did the same work."""
        return bool(self.compared) and not (self.differing or self.empty_everywhere or self.unanswered)


def from_rows(rows: Iterable[Mapping[str, Any]]) -> list[Answer]:
    """Convert rows of table ``answers`` (joined with ``system``), whose columns and rows are JSON text."""
    return [
        Answer(
            row["system"],
            row["trial_id"],
            row["query_type"],
            row["query_id"],
            tuple(json.loads(row["columns"] or "[]")),
            tuple(tuple(held) for held in json.loads(row["rows"] or "[]")),
            row.get("arm") or "",
        )
        for row in rows
    ]


def compare(answers: Sequence[Answer], relative: float = RELATIVE, absolute: float = ABSOLUTE) -> Agreement:
    """Compare the answers of all systems and trials to each query with the first answer of the first system.

    Answers with a float come first: some systems print a float without a point, and only the other side of a comparison
    then says that it is one. Columns and keys must be equal, floats must agree within either tolerance, and integers,
    texts and nulls must be equal. Rows may be in any order.
    """
    by_query: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for answer in answers:
        by_query[answer.query_type, answer.query_id].append(answer)
    systems = {answer.system for answer in answers}
    compared, differing = 0, 0
    types: set[str] = set()
    kept: list[Disagreement] = []
    empty, unanswered = [], []
    for (_, query_id), held in sorted(by_query.items()):
        first, *others = sorted(
            held, key=lambda answer: (not answer.has_float, answer.system, answer.trial_id)
        )
        if not any(answer.rows for answer in held):
            empty.append(query_id)
        unanswered += [f"{query_id}: {name}" for name in sorted(systems - {one.system for one in held})]
        for other in others:
            compared += 1
            found = differences(first, other, relative, absolute)
            differing += len(found)
            new = {one.query_type for one in found} - types
            types |= new
            kept += found[: max(MOST_DIFFERENCES - len(kept), 1 if new else 0)]
    instances: dict[str, int] = defaultdict(int)
    for query_type, _ in by_query:
        instances[query_type] += 1
    too_few = tuple(sorted(name for name, count in instances.items() if count < FEWEST_INSTANCES))
    return Agreement(
        len(by_query),
        compared,
        differing,
        tuple(kept),
        tuple(sorted(types)),
        tuple(empty),
        tuple(unanswered),
        too_few,
    )


def differences(
    a: Answer, b: Answer, relative: float = RELATIVE, absolute: float = ABSOLUTE
) -> list[Disagreement]:
    """Return all differences between two answers to one query."""

    def differ(
        what: str, row: dict[str, Value], column: str | None, of_a: object, of_b: object
    ) -> Disagreement:
        trials = (a.trial_id, b.trial_id)
        return Disagreement(
            a.query_type, a.query_id, what, row, column, a.system, of_a, b.system, of_b, trials
        )

    if a.columns != b.columns:
        return [differ("columns", {}, None, list(a.columns), list(b.columns))]
    keys = a.keys
    if a.rows == b.rows or _alike(a.rows, b.rows, keys, relative, absolute):
        return []
    of_a, of_b = a.by_key, b.by_key
    if of_a.keys() == of_b.keys() and _alike(
        list(of_a.values()), [of_b[key] for key in of_a], keys, relative, absolute
    ):
        return []
    found = []
    for key in sorted(of_a.keys() | of_b.keys(), key=repr):
        named = {a.columns[place]: value for place, value in zip(keys, key[:-1], strict=True)}
        left, right = of_a.get(key), of_b.get(key)
        if left is None or right is None:
            found.append(differ("row", named, None, left and list(left), right and list(right)))
            continue
        found += [
            differ("value", named, a.columns[place], one, two)
            for place, (one, two) in enumerate(zip(left, right, strict=False))
            if place not in keys and not _same(one, two, relative, absolute)
        ]
        if len(left) != len(right):
            found.append(differ("row", named, None, list(left), list(right)))
    return found


def _alike(a: Rows, b: Rows, keys: list[int], relative: float, absolute: float) -> bool:
    """Return whether two answers agree row by row in the order they have, as most do."""
    return len(a) == len(b) and all(
        left == right
        or (
            len(left) == len(right)
            and all(
                one == two if place in keys else _same(one, two, relative, absolute)
                for place, (one, two) in enumerate(zip(left, right, strict=True))
            )
        )
        for left, right in zip(a, b, strict=True)
    )


def _sortable(row: tuple[Value, ...]) -> list[tuple[int, float, str]]:
    return [
        (0, float(value), "") if isinstance(value, int | float) else (1, 0.0, str(value)) for value in row
    ]


def _same(a: Value, b: Value, relative: float, absolute: float) -> bool:
    if not _is_number(a) or not _is_number(b):  # a boolean is a number: some systems have only 0 and 1
        return a == b and type(a) is type(b)
    assert isinstance(a, int | float)
    assert isinstance(b, int | float)
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=relative, abs_tol=absolute)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float)


@dataclass(frozen=True)
class Validated:
    """Agreement of one system's answers, in one arm and to one query type, with those of most systems."""

    system: str
    arm: str
    query_type: str
    queries: int
    """Queries of the type that any system answered."""
    same: int
    """Queries that it answered as most systems did."""
    differing: int
    """Queries that it answered differently."""
    unanswered: int
    """Queries that it did not answer."""
    undecided: int
    """Queries to which no answer was given by more than half of the systems."""
    example: Disagreement | None
    """The first difference."""

    @property
    def ok(self) -> bool:
        """True if it answered every query as most systems did."""
        return self.same == self.queries


def validate(
    answers: Sequence[Answer], relative: float = RELATIVE, absolute: float = ABSOLUTE
) -> list[Validated]:
    """Compare each system's answers with those of most systems; return an entry for each system, arm and query type.

    Answers are the same if columns and keys are equal and floats agree within either tolerance. If a system answered
    a query in several trials, one answer that differs counts. Each arm has an entry, because an arm that loses rows
    answers differently; the majority counts systems, not arms.
    """
    by_query: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for answer in answers:
        by_query[answer.query_type, answer.query_id].append(answer)
    judged = sorted({(answer.system, answer.arm) for answer in answers})
    systems = len({system for system, _ in judged})
    tally: dict[tuple[str, str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    examples: dict[tuple[str, str, str], Disagreement] = {}
    for (kind, _), held in sorted(by_query.items()):
        reference, alike = _majority_answer(held, systems, relative, absolute)
        for system, arm in judged:
            counted, key = tally[system, arm, kind], (system, arm, kind)
            counted["queries"] += 1
            own = [answer for answer in held if (answer.system, answer.arm) == (system, arm)]
            if not own:
                counted["unanswered"] += 1
            elif reference is None:
                counted["undecided"] += 1
            else:
                found = [
                    one
                    for answer in own
                    if id(answer) not in alike
                    for one in differences(reference, answer, relative, absolute)
                ]
                counted["differing" if found else "same"] += 1
                if found:
                    examples.setdefault(key, found[0])
    return [
        Validated(
            system, arm, kind, counted["queries"], counted["same"], counted["differing"], counted["unanswered"],
            counted["undecided"], examples.get((system, arm, kind)),
        )
        for (system, arm, kind), counted in sorted(tally.items())
    ]  # fmt: skip


def _majority_answer(
    held: Sequence[Answer], systems: int, relative: float, absolute: float
) -> tuple[Answer | None, set[int]]:
    """Return an answer that more than half of the systems gave, and the ids of the answers that agree with it.

    It is None if there is none, as for two that differ.
    """
    groups: list[list[Answer]] = []
    for answer in held:
        for members in groups:
            if not differences(members[0], answer, relative, absolute):
                members.append(answer)
                break
        else:
            groups.append([answer])
    best = max(groups, key=lambda members: len({one.system for one in members}))
    most = 2 * len({one.system for one in best}) > systems
    return (best[0] if most else None), set(map(id, best))
