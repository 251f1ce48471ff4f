"""One recorded run: its cells and their values. Claims, comparisons and pages all read a run through it.

Nothing is read before it is asked for, and each part is read once.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.analyse.model import ALPHA
from benchbook.analyse.reason import because
from benchbook.analyse.recording import VALID, Recording
from benchbook.analyse.values import (
    AA,
    EMPTY,
    SATURATED,
    TRIAL,
    Cell,
    Lost,
    Numbers,
    Pair,
    Places,
    Series,
    Validity,
    counted,
)
from benchbook.declare.workload import Workload, workloads
from benchbook.errors import RequestError, command, unknown

if TYPE_CHECKING:
    import polars as pl
    from duckdb import DuckDBPyConnection

RESULTS_VARIABLE = "BENCHBOOK_RESULTS"
"""Environment variable with the results folder, set by ``report.render`` for the cells of a page."""
RUN_VARIABLE = "BENCHBOOK_RUN"
"""Environment variable with the run's identity; without it the latest run is opened."""
MIX_VARIABLE = "BENCHBOOK_MIX"
"""Set to 1 to read trials of different data or configurations as one run, with a warning."""


class Run(Recording):
    """One run of a results folder: its facts and tables, its cells and their values."""

    def __init__(self, results: Path, run_id: str, connection: DuckDBPyConnection | None = None) -> None:
        super().__init__(results, run_id, connection)
        self.whole: Run = self
        """The run of which ``until`` returned this part."""
        self.blocks: int | None = None
        """Number of blocks of such a part; None for all."""
        self.level = ALPHA
        """Level of the tests of claims."""
        self.mixed = ""
        """The differences between trials that should be alike, if the reader asked to see them together."""
        self._series: dict[Pair, dict[str, Series]] = {}
        self._phase_series: dict[Pair, dict[str, Series]] = {}
        self._phase_numbers: dict[tuple[str, Validity], dict[Pair, float]] = {}

    @contextlib.contextmanager
    def connected(self) -> Iterator[DuckDBPyConnection]:
        """Keep one connection to the database open for all reads inside the block."""
        with super().connected() if self.whole is self else self.whole.connected() as connection:
            yield connection

    @functools.cache  # noqa: B019 - a part lives as long as its run
    def until(self, blocks: int, level: float) -> Run:
        """Return the cells and values of the first blocks, for tests at ``level``; facts and frames stay whole."""
        part = Run(self.results, self.run_id)
        part.whole, part.blocks, part.level = self, blocks, level
        return part

    @property
    def _within(self) -> str:
        """The condition on a trial ``t`` that it belongs to the blocks of this part."""
        return "" if self.blocks is None else f" AND t.block < {self.blocks:d}"

    # Cells and values

    @functools.cached_property
    def cells(self) -> list[Cell]:
        """The cells, in the order of their first trial."""
        digests = ", ".join(
            f"list_sort(list(DISTINCT {column}) FILTER (good AND {column} IS NOT NULL))"
            for column in ("version_reported", "dataset_digest", "queries_digest", "config_digest")
        )
        text = (
            f"WITH held AS (SELECT *, status = 'ok' AS good FROM trials t WHERE run_id = ?{self._within}), "  # noqa: S608 - ours
            "grouped AS (SELECT cell, any_value(system) AS system, any_value(arm) AS arm, "
            "count(*) FILTER (good) AS ok, count(*) AS trials, "
            "list_sort(list(DISTINCT status) FILTER (NOT good)) AS statuses, "
            'min_by(reason, "index") FILTER (NOT good) AS reason, min_by(trial_id, "index") AS first, '
            f'min("index") AS place, [{digests}] AS digests FROM held GROUP BY cell) '
            "SELECT g.cell, g.system, g.arm, g.ok, g.trials, g.statuses, g.reason, g.digests, (SELECT "
            "list((l.factor, l.level) ORDER BY l.factor) FROM levels l WHERE l.trial_id = g.first) "
            "FROM grouped g ORDER BY g.place"
        )
        found = []
        with self.connected() as connection:
            rows = connection.execute(text, [self.run_id]).fetchall()
        for name, system, arm, good, trials, statuses, reason, held, levels in rows:
            versions, datasets, queries, configurations = (tuple(each or ()) for each in held)
            found.append(
                Cell(
                    name, system, arm or "",
                    {factor: str(level) for factor, level in levels or [("system", system)]}, good, trials,
                    tuple(statuses or ()), reason, versions, datasets, queries, configurations, self.title(system),
                )
            )  # fmt: skip
        factors = dict.fromkeys(factor for cell in found for factor in cell.levels if factor != "system")
        varying = [factor for factor in factors if len({cell.levels.get(factor) for cell in found}) > 1]
        return [
            replace(cell, varying=tuple((name, cell.levels[name]) for name in varying if name in cell.levels))
            for cell in found
        ]

    @functools.cached_property
    def codes(self) -> dict[str, int]:
        """Name of a cell → its place in ``cells``."""
        return {cell.name: code for code, cell in enumerate(self.cells)}

    @property
    def against_itself(self) -> bool:
        """True if it is an A/A run."""
        return any(AA in cell.levels for cell in self.cells)

    def values(self, cell: str | Any, pair: Pair, validity: Validity = "trial") -> Series:
        """Return the values of a metric in a cell (or the name of one); empty where nothing was measured.

        A phase in which the offered rate was not reached has no latencies.
        """
        name = cell if isinstance(cell, str) else cell.name
        held = self._by_phase(pair) if validity == "phase" else self._by_trial(pair)
        return held.get(name, EMPTY)

    def _by_trial(self, pair: Pair) -> dict[str, Series]:
        """Return cell → the values of a metric, from the trials that count and that belong to this part."""
        if pair not in self._series:
            import numpy as np

            trials, found = self.whole.places, self.whole.meaningful(*pair)
            if self.blocks is not None:
                found = found.at(trials.blocks[found.places] < self.blocks)
            made = {}
            for code in np.unique(trials.cells[found.places]).tolist():
                own = found.at(trials.cells[found.places] == code)
                blocks = trials.blocks[own.places].tolist()
                made[self.whole.cells[code].name] = Series(
                    dict(zip(blocks, own.values.tolist(), strict=True)), found.unit, found.direction,
                    dict(zip(blocks, [trials.ids[place] for place in own.places.tolist()], strict=True)),
                )  # fmt: skip
            self._series[pair] = made
        return self._series[pair]

    def _by_phase(self, pair: Pair) -> dict[str, Series]:
        """Return the same from the trials of which the phase counts."""
        if pair not in self._phase_series:
            text = (
                "SELECT t.cell, any_value(m.unit), any_value(m.direction), "  # noqa: S608 - ours
                "list(t.block ORDER BY t.block), list(m.value ORDER BY t.block), list(t.trial_id ORDER BY t.block) "
                "FROM measurements m JOIN trials t USING (trial_id) "
                f"WHERE t.run_id = ? AND m.phase = ? AND m.metric = ? AND {counted('phase', 'm.phase')} "
                f"AND isfinite(m.value){self._within} AND NOT list_contains(?::VARCHAR[], t.trial_id) "
                "GROUP BY t.cell ORDER BY t.cell"
            )
            with self.connected() as connection:
                rows = connection.execute(text, [self.run_id, *pair, sorted(self.queued(*pair))]).fetchall()
            self._phase_series[pair] = {
                cell: Series(
                    dict(zip(blocks, values, strict=True)), unit, direction,
                    dict(zip(blocks, trials, strict=True)),
                )
                for cell, unit, direction, blocks, values, trials in rows
            }  # fmt: skip
        return self._phase_series[pair]

    def lost(self, cell: Cell, pair: Pair, validity: Validity = "trial") -> Lost | None:
        """Return the recorded trials of a cell that lack a value of a metric; None where none does."""
        have = set(self.values(cell, pair, validity).trial_ids.values())
        recorded = self._recorded.get(cell.name, [])
        gone = [(trial_id, reason) for trial_id, _, reason in recorded if trial_id not in have]
        if not gone:
            return None
        first, reason = gone[0]
        if reason:
            why = because("recorded", text=reason)
        elif first in self.queued(*pair):
            why = because("saturated")
        else:
            why = because("unmeasured", metric=pair[1])
        return Lost(len(gone), len(recorded), why)

    @functools.cached_property
    def _recorded(self) -> dict[str, list[tuple[str, str, str | None]]]:
        """Cell → (trial, status, reason) of its recorded trials that were not skipped."""
        text = (
            "SELECT cell, trial_id, status, reason FROM trials t WHERE run_id = ? AND status <> 'skipped'"  # noqa: S608 - ours
            f'{self._within} ORDER BY "index"'
        )
        found: dict[str, list[tuple[str, str, str | None]]] = {}
        with self.connected() as connection:
            for cell, *rest in connection.execute(text, [self.run_id]).fetchall():
                found.setdefault(cell, []).append((rest[0], rest[1], rest[2]))
        return found

    @functools.cached_property
    def checks(self) -> dict[str, tuple[int, int]]:
        """Cell → number of its checks that passed and that failed, without those that are not required."""
        text = (
            "SELECT t.cell, count(*) FILTER (c.ok AND c.kind <> 'optional'), "
            "count(*) FILTER (NOT c.ok) "
            "FROM checks c JOIN trials t USING (trial_id) WHERE t.run_id = $1 GROUP BY t.cell"
        )
        return {cell: (passed, failed) for cell, passed, failed in self.query(text).iter_rows()}

    def failed_checks(self) -> pl.DataFrame:
        """Return the checks that failed, with the cell of their trial, in the order of trials."""
        return self.query(
            "SELECT t.trial_id, t.cell, c.name, c.expected, c.found FROM checks c JOIN trials t USING (trial_id) "
            'WHERE t.run_id = ? AND NOT c.ok ORDER BY t."index"'
        )

    def summed(self, metric: str) -> dict[str, float]:
        """Return cell → sum of a metric over its phases and its trials of any status."""
        text = (
            "SELECT t.cell, sum(m.value) FROM measurements m JOIN trials t USING (trial_id) "
            "WHERE t.run_id = ? AND m.metric = ? GROUP BY t.cell"
        )
        return dict(self.query(text, metric).iter_rows())

    def lasted(self, phase: str | None = None) -> tuple[float | None, float | None]:
        """Return the median and the shortest duration in s of a phase, or of all that run a workload."""
        text = (
            f"WITH {VALID} SELECT median(p.duration_seconds), min(p.duration_seconds) FROM phases p "  # noqa: S608 - ours
            "JOIN counted c USING (trial_id) WHERE p.workload <> '' AND p.duration_seconds > 0 "
            "AND coalesce(p.phase = ?::VARCHAR, true)"
        )
        middle, shortest = self.query(text, phase).row(0)
        return middle, shortest

    def phase_seconds(self, cell: Cell, phase: str, validity: Validity = "trial") -> float | None:
        """Return the shortest duration of a timed phase in a cell, in s; None where none was recorded."""
        found = self._per_phase("min(e.duration_seconds)", "phases", "e.timed", validity)
        return found.get((cell.name, phase))

    def pairs(self) -> list[Pair]:
        """Return every phase and metric that has a direction and a value, by name."""
        held = {pair: self.whole.meaningful(*pair) for pair in self.whole.measured}
        return [pair for pair, found in held.items() if len(found) and found.direction != "none"]

    def failed(self, cell: str | Any, phase: str, validity: Validity = "trial") -> int:
        """Return how many operations failed in a phase of a cell; phase ``trial`` means all phases."""
        named = cell if isinstance(cell, str) else cell.name
        found = self._per_phase("sum(e.operations)", "errors", "true", validity)
        return int(
            sum(count for (name, of), count in found.items() if name == named and phase in (TRIAL, of))
        )

    def failures(self, cell: Cell, phase: str, validity: Validity = "trial") -> dict[str, int]:
        """Return message → how many operations failed with it in a phase of a cell, in trials that count."""
        text = (
            "SELECT coalesce(e.message, ''), sum(e.operations)::BIGINT FROM errors e JOIN trials t USING (trial_id) "  # noqa: S608 - ours
            f"WHERE t.run_id = ? AND t.cell = ? AND e.phase = ? AND {counted(validity, 'e.phase')}{self._within} "
            "GROUP BY ALL ORDER BY ALL"
        )
        return dict(self.query(text, cell.name, phase).iter_rows())

    def _per_phase(self, number: str, table: str, where: str, validity: Validity) -> dict[Pair, float]:
        """Return (cell, phase) → a number over the rows ``e`` of a table, of trials that count; read once."""
        asked = (number, validity)
        if asked not in self._phase_numbers:
            text = (
                f"SELECT t.cell, e.phase, ({number})::DOUBLE FROM {table} e JOIN trials t USING (trial_id) "  # noqa: S608 - ours
                f"WHERE t.run_id = ? AND {where} AND {counted(validity, 'e.phase')}{self._within} GROUP BY ALL"
            )
            with self.connected() as connection:
                rows = connection.execute(text, [self.run_id]).fetchall()
            self._phase_numbers[asked] = {
                (cell, phase): held for cell, phase, held in rows if held is not None
            }
        return self._phase_numbers[asked]

    @functools.cached_property
    def ok(self) -> pl.DataFrame:
        """The trials that count: status ``ok``."""
        import polars as pl

        return self.frame("trials").filter(pl.col("status") == "ok")

    def unrecorded(self) -> dict[tuple[str, str], tuple[int, int]]:
        """Return (system, arm) → how many of its trials that read data have no recorded answer, and how many read.

        Only trials that count, and only systems with such trials.
        """
        reading = [phase for _, phase in self.phases_having(lambda one: one.reads)]
        text = (
            "SELECT t.system, coalesce(t.arm, ''), count(*) FILTER (NOT exists(SELECT 1 FROM answers a "
            "WHERE a.trial_id = t.trial_id)) AS lacking, count(*) FROM trials t WHERE t.run_id = ? "
            "AND t.status = 'ok' AND exists(SELECT 1 FROM phases p WHERE p.trial_id = t.trial_id "
            "AND list_contains(?, p.phase)) GROUP BY ALL HAVING lacking > 0 ORDER BY ALL"
        )
        return {
            (system, arm): (lacking, of) for system, arm, lacking, of in self.query(text, reading).iter_rows()
        }

    # Numbers: the measurements of the trials that count, read once, as arrays.

    @functools.cached_property
    def measured(self) -> dict[Pair, Numbers]:
        """(phase, metric) → its finite values, by name."""
        text = (
            f"WITH {VALID} SELECT m.phase, m.metric, any_value(m.unit), any_value(m.direction), "  # noqa: S608 - ours
            "list(c.place) AS places, list(m.value) AS found FROM measurements m JOIN counted c USING (trial_id) "
            "WHERE isfinite(m.value) GROUP BY m.phase, m.metric ORDER BY m.phase, m.metric"
        )
        rows = self.query(text)
        made = {}
        for number, (phase, metric, unit, direction) in enumerate(rows.drop("places", "found").iter_rows()):
            places, found = (rows[name][number].to_numpy() for name in ("places", "found"))
            order = places.argsort(kind="stable")
            made[phase, metric] = Numbers(places[order], found[order], unit, direction)
        return made

    def phases_of(self, metric: str) -> dict[str, Numbers]:
        """Return phase → the values of a metric, for the phases that measured it."""
        return {phase: found for (phase, name), found in self.measured.items() if name == metric}

    def numbers(self, phase: str, metric: str) -> Numbers:
        """Return the values of a metric in the trials that count; empty if it was not measured."""
        import numpy as np

        found = self.measured.get((phase, metric))
        return Numbers(np.empty(0, dtype=np.int64), np.empty(0)) if found is None else found

    def meaningful(self, phase: str, metric: str) -> Numbers:
        """Return the same without the trials that ``queued`` has."""
        import numpy as np

        found, queued, ids = self.numbers(phase, metric), self.queued(phase, metric), self.places.ids
        if not queued:
            return found
        return found.at(np.array([ids[place] not in queued for place in found.places], dtype=bool))

    def queued(self, phase: str, metric: str) -> frozenset[str]:
        """Return the trials in which a metric is a latency that means nothing: the offered rate was not reached.

        There, operations queue, so their latency only shows how long the phase was.
        """
        return self.whole._saturated.get(phase, frozenset()) if metric.startswith("latency_") else frozenset()

    @functools.cached_property
    def _saturated(self) -> dict[str, frozenset[str]]:
        """Phase → the trials, of any status, that did not reach its offered rate."""
        text = (
            "SELECT m.phase, list(m.trial_id) FROM measurements m JOIN trials t USING (trial_id) "
            "WHERE t.run_id = ? AND m.metric = ? AND m.value > 0 GROUP BY m.phase"
        )
        return {phase: frozenset(trials) for phase, trials in self.query(text, SATURATED).iter_rows()}

    def by_trial(self, phase: str, metric: str) -> dict[str, float]:
        """Return trial → value of a metric, of the trials that count."""
        found = self.numbers(phase, metric)
        ids = self.places.ids
        return {
            ids[place]: value
            for place, value in zip(found.places.tolist(), found.values.tolist(), strict=True)
        }

    @functools.cached_property
    def places(self) -> Places:
        """What each row of ``ok`` is."""
        import numpy as np

        return Places(
            self.ok["trial_id"].to_list(),
            np.array([self.codes[name] for name in self.ok["cell"].to_list()], dtype=np.int64),
            self.ok["block"].to_numpy(),
            self.ok["position"].to_numpy(),
        )

    def phases(self, workload: str) -> list[str]:
        """Return the names of the phases that ran ``workload``, in their order in a trial."""
        return list(self._phases.get(workload, ()))

    def phases_having(self, trait: Callable[[Workload], object]) -> list[tuple[Workload, str]]:
        """Return (workload, phase) of each phase whose workload has a trait, workload by workload."""
        return [(one, phase) for one in workloads().values() if trait(one) for phase in self.phases(one.name)]

    @functools.cached_property
    def loads(self) -> list[str]:
        """The phases that loaded the dataset."""
        return [phase for _, phase in self.phases_having(lambda one: one.loads)]

    @functools.cached_property
    def queries(self) -> list[str]:
        """The phases that asked queries."""
        return [phase for _, phase in self.phases_having(lambda one: one.queries)]

    @functools.cached_property
    def _phases(self) -> dict[str | None, list[str]]:
        """Workload → its phases."""
        text = (
            f"SELECT p.workload, p.phase FROM {self._schema}.phases p JOIN trials t USING (trial_id) "  # noqa: S608 - a name of ours
            'WHERE t.run_id = ? GROUP BY ALL ORDER BY min(p.position), min((t."index", p.rowid))'
        )
        found: dict[str | None, list[str]] = {}
        for workload, phase in self.query(text).iter_rows():
            found.setdefault(workload, []).append(phase)
        return found

    @functools.cached_property
    def tried(self) -> dict[str, dict[str, bool]]:
        """Phase → the cells that ran it, each with whether one of those trials counts."""
        text = (
            "SELECT p.phase, t.cell, bool_or(t.status = 'ok') FROM phases p JOIN trials t USING (trial_id) "
            "WHERE t.run_id = ? GROUP BY ALL"
        )
        found: dict[str, dict[str, bool]] = {}
        for phase, cell, counts in self.query(text).iter_rows():
            found.setdefault(phase, {})[cell] = counts
        return found


def open_run(results: Path | None = None, run_id: str | None = None) -> Run:
    """Open a run: the one named, else that of the environment, else the latest of the results folder.

    Raises RequestError where there is none, or where trials that should be alike had different data or
    configurations.
    """
    folder = results or Path(os.environ.get(RESULTS_VARIABLE, "results"))
    name = run_id or os.environ.get(RUN_VARIABLE) or None
    run = Run(folder, _known(folder, name))
    run.mixed = mixture(run)
    if run.mixed and os.environ.get(MIX_VARIABLE) != "1":
        raise RequestError(
            f"Run {run.run_id}: {run.mixed}. Such trials are not compared, because they did different work.",
            f"Run the experiment again, or set {MIX_VARIABLE}=1 to show them together, with a warning.",
        )
    return run


def _known(results: Path, run_id: str | None) -> str:
    from benchbook.record import database

    with database.open(results, read_only=True) as connection:
        rows = connection.execute("SELECT run_id FROM runs ORDER BY created_at, run_id").fetchall()
    names = [str(row[0]) for row in rows]
    if not names:
        raise RequestError(
            f"There are no runs in {results.absolute()} yet.", f"Start one with: {command('run quickstart')}"
        )
    if run_id is None:
        return names[-1]
    if run_id not in names:
        raise unknown("run", run_id, names, str(results))
    return run_id


def mixture(run: Run) -> str:
    """Return in words what differs between trials that should be alike, or an empty text.

    Alike are: the data and the queries of trials with the same levels apart from system, arm and storage;
    the configuration of the trials of one cell.
    """
    datasets: dict[Any, set[str]] = {}
    queries: dict[Any, set[str]] = {}
    for cell in run.cells:
        work = tuple(level for level in cell.levels.items() if level[0] not in ("system", "arm", "storage"))
        datasets.setdefault(work, set()).update(filter(None, cell.datasets))
        queries.setdefault(work, set()).update(filter(None, cell.queries))
    found = []
    for what, digests in (
        ("dataset", datasets.values()),
        ("query set", queries.values()),
        ("configuration", [set(filter(None, cell.configurations)) for cell in run.cells]),
    ):
        worst = max(map(len, digests), default=0)
        if worst > 1:
            found.append(f"its trials used {worst} different digests of one {what}")
    return "; ".join(found)
