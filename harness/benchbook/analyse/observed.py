"""What one run observed, as claims and comparisons need it: cells, values by block, failures, provenance.

Read from the results database in a handful of queries whatever the number of trials; nothing is kept open.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.declare.level import same
from benchbook.errors import unknown

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Pair = tuple[str, str]
"""Phase and metric."""
TRIAL = "trial"
"""The phase that stands for the whole trial."""
AA = "aa"
"""Factor of an A/A run: two labels that change nothing."""


@dataclass(frozen=True)
class Cell:
    """One combination of levels, and what became of its trials."""

    name: str
    system: str
    arm: str
    levels: dict[str, str]
    ok: int
    """Trials that count."""
    trials: int
    """Trials of any status."""
    statuses: tuple[str, ...]
    """Statuses other than ok, each once."""
    reason: str | None
    """Why the first trial that does not count does not."""
    versions: tuple[str, ...]
    """Versions that the running system stated."""
    datasets: tuple[str, ...]
    """Digests of the data that its trials loaded; more than one is a mixture."""
    queries: tuple[str, ...]
    configurations: tuple[str, ...]

    def matches(self, wanted: Mapping[str, Iterable[str]]) -> bool:
        """Say whether it has one of the wanted levels of each factor."""
        return all(
            factor in self.levels and any(same(self.levels[factor], level) for level in levels)
            for factor, levels in wanted.items()
        )

    @property
    def size(self) -> tuple[tuple[str, str], ...]:
        """Its levels without the label of an A/A run, as a key."""
        return tuple(sorted((name, level) for name, level in self.levels.items() if name != AA))


@dataclass(frozen=True)
class Series:
    """The values of one metric in one cell."""

    by_block: dict[int, float]
    unit: str
    direction: str
    """higher, lower or none."""
    trial_ids: dict[int, str] = field(default_factory=dict)


EMPTY = Series({}, "1", "none")


@dataclass(frozen=True, eq=False)
class Observed:
    """One run, read."""

    run_id: str
    experiment: str
    profile: str
    created_at: Any
    """UTC."""
    facts: dict[str, dict[str, Any]]
    """Topic → key → value of run.json."""
    row: dict[str, Any]
    """Its row of table ``runs``."""
    cells: list[Cell]
    series: dict[tuple[str, Pair], Series]
    """(cell, (phase, metric)) → values of the trials that count."""
    failures: dict[Pair, int]
    """(cell, phase) → operations that failed in trials that count."""

    @property
    def machine(self) -> str | None:
        """The machine's id; None where it could not be read."""
        named = (self.facts.get("host", {}).get("machine") or {}).get("id")
        return named if isinstance(named, str) and not named.startswith("not readable") else None

    @property
    def against_itself(self) -> bool:
        """Whether it is an A/A run."""
        return any(AA in cell.levels for cell in self.cells)

    def values(self, cell: Cell, pair: Pair) -> Series:
        """Return the values of a metric in a cell; empty where nothing was measured."""
        return self.series.get((cell.name, pair), EMPTY)

    def failed(self, cell: Cell, phase: str) -> int:
        """Return how many operations failed in a phase of a cell; phase ``trial`` means all phases."""
        if phase == TRIAL:
            return sum(count for (name, _), count in self.failures.items() if name == cell.name)
        return self.failures.get((cell.name, phase), 0)

    @functools.cached_property
    def systems(self) -> dict[str, dict[str, Any]]:
        """System → its declaration as it was for the run."""
        held = self.facts.get("declared", {}).get("systems") or {}
        return {str(name): value for name, value in held.items() if isinstance(value, dict)}

    def embedded(self, system: str) -> bool:
        """Say whether a system shares the client's process."""
        stated = self.systems.get(system, {}).get("embedded")
        if stated is None:
            return bool((self.facts.get("programs", {}).get(system) or {}).get("source") == "python")
        return bool(stated)

    def pairs(self) -> list[Pair]:
        """Return every phase and metric that was read, in order."""
        return list(dict.fromkeys(pair for _, pair in self.series))


def observe(results: Path, run_id: str, pairs: Iterable[Pair] | None = None) -> Observed:
    """Read a run and the metrics ``pairs`` of it (all that have a direction, by default).

    Raises RequestError where the results hold no such run.
    """
    from benchbook.record import database

    with database.open(results, read_only=True) as connection:
        return read(connection, run_id, pairs)


def read(connection: DuckDBPyConnection, run_id: str, pairs: Iterable[Pair] | None = None) -> Observed:
    """Read a run from an open database; as ``observe``."""
    found = connection.execute("SELECT * FROM runs WHERE run_id = ?", [run_id])
    names = [str(column[0]) for column in found.description or []]
    held = found.fetchone()
    if held is None:
        known = [str(row[0]) for row in connection.execute("SELECT run_id FROM runs").fetchall()]
        raise unknown("run", run_id, known)
    row = dict(zip(names, held, strict=True))
    return Observed(
        run_id=run_id,
        experiment=str(row["experiment"]),
        profile=str(row["profile"]),
        created_at=row["created_at"],
        facts=facts_of(connection, run_id),
        row=row,
        cells=_cells(connection, run_id),
        series=_series(connection, run_id, pairs),
        failures=_failures(connection, run_id),
    )


def facts_of(connection: DuckDBPyConnection, run_id: str) -> dict[str, dict[str, Any]]:
    """Return the parts of run.json that are not columns: topic → key → value; empty for an unknown run."""
    facts: dict[str, dict[str, Any]] = {}
    text = "SELECT topic, key, value FROM run_facts WHERE run_id = ?"
    for topic, key, value in connection.execute(text, [run_id]).fetchall():
        facts.setdefault(topic, {})[key] = json.loads(value) if value else None
    return facts


def _cells(connection: DuckDBPyConnection, run_id: str) -> list[Cell]:
    digests = ", ".join(
        f"list_sort(list(DISTINCT {column}) FILTER (good AND {column} IS NOT NULL))"
        for column in ("version_reported", "dataset_digest", "queries_digest", "config_digest")
    )
    text = (
        "WITH held AS (SELECT *, status = 'ok' AS good FROM trials WHERE run_id = ?), "  # noqa: S608 - ours
        "grouped AS (SELECT cell, any_value(system) AS system, any_value(arm) AS arm, "
        "count(*) FILTER (good) AS ok, count(*) AS trials, "
        "list_sort(list(DISTINCT status) FILTER (NOT good)) AS statuses, "
        'min_by(reason, "index") FILTER (NOT good) AS reason, min_by(trial_id, "index") AS first, '
        f'min("index") AS place, [{digests}] AS digests FROM held GROUP BY cell) '
        "SELECT g.cell, g.system, g.arm, g.ok, g.trials, g.statuses, g.reason, g.digests, "
        "(SELECT list((l.factor, l.level)) FROM levels l WHERE l.trial_id = g.first) FROM grouped g ORDER BY g.place"
    )
    found = []
    for name, system, arm, good, trials, statuses, reason, digests_, levels in connection.execute(
        text, [run_id]
    ).fetchall():
        versions, datasets, queries, configurations = (tuple(each or ()) for each in digests_)
        found.append(
            Cell(
                name, system, arm or "",
                {factor: str(level) for factor, level in levels or [("system", system)]}, good, trials,
                tuple(statuses or ()), reason, versions, datasets, queries, configurations,
            )
        )  # fmt: skip
    return found


def _series(
    connection: DuckDBPyConnection, run_id: str, pairs: Iterable[Pair] | None
) -> dict[tuple[str, Pair], Series]:
    wanted = None if pairs is None else sorted(set(pairs))
    chosen = (
        "m.direction <> 'none'"
        if wanted is None
        else "(m.phase, m.metric) IN (SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]))"
    )
    given: list[Any] = [run_id]
    if wanted is not None:
        given += [[phase for phase, _ in wanted], [metric for _, metric in wanted]]
    text = (
        "SELECT t.cell, m.phase, m.metric, any_value(m.unit), any_value(m.direction), "  # noqa: S608 - ours
        "list(t.block ORDER BY t.block), list(m.value ORDER BY t.block), list(t.trial_id ORDER BY t.block) "
        "FROM measurements m JOIN trials t USING (trial_id) "
        f"WHERE t.run_id = ? AND t.status = 'ok' AND isfinite(m.value) AND {chosen} "
        "GROUP BY ALL ORDER BY ALL"
    )
    return {
        (cell, (phase, metric)): Series(
            dict(zip(blocks, values, strict=True)), unit, direction, dict(zip(blocks, trials, strict=True))
        )
        for cell, phase, metric, unit, direction, blocks, values, trials in connection.execute(
            text, given
        ).fetchall()
    }


def _failures(connection: DuckDBPyConnection, run_id: str) -> dict[Pair, int]:
    text = (
        "SELECT t.cell, e.phase, coalesce(sum(e.operations), 0)::BIGINT FROM errors e JOIN trials t USING (trial_id) "
        "WHERE t.run_id = ? AND t.status = 'ok' GROUP BY ALL"
    )
    return {(cell, phase): count for cell, phase, count in connection.execute(text, [run_id]).fetchall()}
