"""Whether cells did the same work, so that their speeds may be compared (rules 9 and 14 of docs/methods.md)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.analyse import answers
from benchbook.analyse.answers import Answer
from benchbook.analyse.observed import Cell

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TOLERANCE = 1e-9
"""Largest relative difference of equal floats where the dataset's declaration is not with the run."""


@dataclass(eq=False)
class Answers:
    """The different answers that the systems of a run gave; comparisons are worked out once."""

    by_dataset: dict[str, list[Answer]]
    """Digest of the data → one answer for each system, query and digest of the answer."""
    queries: bool
    """Whether the run asked any queries."""
    tolerance: float = TOLERANCE
    _known: dict[frozenset[tuple[str, str]], list[str]] = field(default_factory=dict)

    def faults(self, asked: Iterable[tuple[str, str]]) -> list[str]:
        """Return in words why the answers of these systems, each in an arm, do not show the same work.

        Empty where they do. Other arms do not count: one that loses rows answers otherwise, and is another cell.
        """
        key = frozenset(asked)
        if key not in self._known:
            self._known[key] = self._compare(key)
        return self._known[key]

    def _compare(self, asked: frozenset[tuple[str, str]]) -> list[str]:
        if len({system for system, _ in asked}) < 2 or not self.queries:
            return []
        found = [
            answers.compare([one for one in held if (one.system, one.arm) in asked], self.tolerance)
            for held in self.by_dataset.values()
        ]
        found = [one for one in found if one.queries]
        if not found:
            return ["no answers were recorded, so nobody knows whether the systems did the same work"]
        said = []
        if differing := sum(one.differing for one in found):
            types = sorted({difference.query_type for one in found for difference in one.differences})
            said.append(f"the systems answered {', '.join(types)} differently in {differing} places")
        if empty := [name for one in found for name in one.empty_everywhere]:
            said.append(f"every system answered {some(empty)} with no rows, which proves nothing")
        if unanswered := [name for one in found for name in one.unanswered]:
            said.append(f"no answer was given to {some(unanswered)}")
        return said


def read(connection: DuckDBPyConnection, run_id: str, tolerance: float = TOLERANCE) -> Answers:
    """Read the answers of a run: equal ones of a system in an arm once, however many trials gave them."""
    asked = connection.execute(
        "SELECT count(*) FROM phases p JOIN trials t USING (trial_id) WHERE t.run_id = ? AND p.workload = 'query'",
        [run_id],
    ).fetchone()
    if not asked or not asked[0]:
        return Answers({}, False, tolerance)
    text = (
        "SELECT coalesce(t.dataset_digest, ''), t.system, coalesce(t.arm, ''), min(a.trial_id), "
        'a.query_type, a.query_id, any_value(a."columns"), any_value(a."rows") '
        "FROM answers a JOIN trials t USING (trial_id) WHERE t.run_id = ? AND t.status = 'ok' "
        "GROUP BY t.dataset_digest, t.system, t.arm, a.query_type, a.query_id, "
        'coalesce(a.digest, a."rows") ORDER BY ALL'
    )
    by_dataset: dict[str, list[Answer]] = {}
    names = ("system", "arm", "trial_id", "query_type", "query_id", "columns", "rows")
    for dataset, *rest in connection.execute(text, [run_id]).fetchall():
        row: dict[str, Any] = dict(zip(names, rest, strict=True))
        by_dataset.setdefault(dataset, []).extend(answers.from_rows([row]))
    return Answers(by_dataset, True, tolerance)


def tolerance(results: Path, run_id: str) -> float:
    """Return the float tolerance that the run's dataset declares, a relative difference."""
    for file in sorted((results / "runs" / run_id / "declared").glob("dataset*.toml")):
        try:
            return float(tomllib.loads(file.read_text(encoding="utf-8"))["float_tolerance"])
        except (OSError, ValueError, KeyError):
            continue
    return TOLERANCE


def mixture(sides: Sequence[Cell], *, data_differ: bool = False) -> list[str]:
    """Return in words what differs between cells that are to be compared.

    ``data_differ``: the cells are of different data by intent, because a parameter of the dataset is compared.
    """
    found = []
    for what, digests in (("dataset", "datasets"), ("query set", "queries")):
        held = {digest for cell in sides for digest in getattr(cell, digests)}
        if len(held) > 1 and not data_differ:
            found.append(f"they used {len(held)} different digests of one {what}")
    for cell in sides:
        if len(cell.configurations) > 1:
            found.append(
                f"the trials of {cell.name} ran under {len(cell.configurations)} different configurations"
            )
    return found


def some(names: Sequence[str]) -> str:
    """Return the first three names, and how many more there are."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
