"""What the database holds of one run: its facts, and its tables as frames.

Nothing is read before it is asked for. The database is open only while a query runs, or for the length of
``Recording.connected``.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.errors import unknown
from benchbook.host import processor
from benchbook.host.processor import Processor
from benchbook.host.reading import readable
from benchbook.host.texts import number

if TYPE_CHECKING:
    import polars as pl
    from duckdb import DuckDBPyConnection

VALID = (
    'counted AS (SELECT trial_id, row_number() OVER (ORDER BY "index") - 1 AS place '
    "FROM trials WHERE run_id = ? AND status = 'ok')"
)
"""The trials that count, each with its row of ``Run.ok``."""


class Recording:
    """The facts and tables of one run of a results folder."""

    def __init__(self, results: Path, run_id: str, connection: DuckDBPyConnection | None = None) -> None:
        self.results = results
        self.run_id = run_id
        self._connection = connection
        self._frames: dict[str, pl.DataFrame] = {}

    @contextlib.contextmanager
    def connected(self) -> Iterator[DuckDBPyConnection]:
        """Keep one connection to the database open for all reads inside the block."""
        from benchbook.record import database

        if self._connection is not None:
            yield self._connection
            return
        with database.open(self.results, read_only=True) as connection:
            self._connection = connection
            try:
                yield connection
            finally:
                self._connection = None

    @functools.cached_property
    def info(self) -> dict[str, Any]:
        """The run's row of table ``runs``. Raises RequestError where the results hold no such run."""
        with self.connected() as connection:
            found = connection.execute("SELECT * FROM runs WHERE run_id = ?", [self.run_id])
            names = [str(column[0]) for column in found.description or []]
            row = found.fetchone()
            if row is None:
                known = [str(one[0]) for one in connection.execute("SELECT run_id FROM runs").fetchall()]
                raise unknown("run", self.run_id, known)
        return dict(zip(names, row, strict=True))

    def require(self) -> None:
        """Raise RequestError where the results hold no such run."""
        _ = self.info

    @property
    def experiment(self) -> str:
        """The name of its experiment."""
        return str(self.info["experiment"])

    @property
    def profile(self) -> str:
        """The profile that it ran at."""
        return str(self.info["profile"])

    def facts(self, topic: str) -> dict[str, Any]:
        """Return one part of run.json (``host``, ``programs``, ``declared`` …) as key → value."""
        return self._topics.get(topic, {})

    def fact_list(self, topic: str) -> list[Any]:
        """Return a part of run.json that is a list (``controls``, ``calibration``), in its order."""
        facts = self.facts(topic)
        return [facts[key] for key in sorted(facts, key=lambda key: number(key) or 0)]

    @functools.cached_property
    def _topics(self) -> dict[str, dict[str, Any]]:
        text = "SELECT topic, key, value FROM run_facts WHERE run_id = ?"
        found: dict[str, dict[str, Any]] = {}
        with self.connected() as connection:
            for topic, key, value in connection.execute(text, [self.run_id]).fetchall():
                found.setdefault(topic, {})[key] = json.loads(value) if value else None
        return found

    @functools.cached_property
    def declared(self) -> dict[str, Any]:
        """The experiment as it was declared when the run began."""
        return self.facts("declared").get("experiment") or {}

    @functools.cached_property
    def systems(self) -> dict[str, dict[str, Any]]:
        """System → its declaration as it was for the run."""
        held = self.facts("declared").get("systems") or {}
        return {str(name): value if isinstance(value, dict) else {} for name, value in held.items()}

    def title(self, system: str) -> str:
        """Return the title of a system, else its name."""
        return str(self.systems.get(system, {}).get("title") or system)

    def embedded(self, system: str) -> bool:
        """Return whether a system shares the client's process."""
        stated = self.systems.get(system, {}).get("embedded")
        if stated is None:
            return bool((self.facts("programs").get(system) or {}).get("source") == "python")
        return bool(stated)

    @property
    def machine(self) -> str | None:
        """The machine's id; None where it could not be read."""
        named = (self.facts("host").get("machine") or {}).get("id")
        return named if isinstance(named, str) and readable(named) else None

    @functools.cached_property
    def processor(self) -> Processor | None:
        """The processor; None where its model is unknown."""
        return processor.of(self.facts("host").get("cpu") or {})

    def frame(self, table: str) -> pl.DataFrame:
        """Return the rows of ``table`` that belong to this run, in the order they were recorded.

        The histograms of intervals are left out: they are most of a run's bytes, and ``histograms_of`` reads them.
        """
        if table not in self._frames:
            self._frames[table] = self._read(table)
        return self._frames[table]

    def _read(self, table: str) -> pl.DataFrame:
        from benchbook.record.tables import BY_NAME

        where = self._schema
        if BY_NAME[table].owner == "run_id" or table == "trials":
            order = '"index"' if table == "trials" else "rowid"
            text = f"SELECT * FROM {where}.{table} WHERE run_id = ? ORDER BY {order}"  # noqa: S608 - a name of ours
        else:
            columns = "r.* EXCLUDE (histogram)" if table == "intervals" else "r.*"
            text = (
                f"SELECT {columns} FROM {where}.{table} r JOIN trials t USING (trial_id) "  # noqa: S608 - ours
                'WHERE t.run_id = ? ORDER BY t."index", r.rowid'
            )
        return self.query(text)

    def intervals_of(self, phases: Sequence[str]) -> pl.DataFrame:
        """Return the intervals of some phases of valid trials, without warm-up, in their order.

        Columns: ``place`` (a row of ``ok``), ``phase`` (a place in ``phases``), ``duration_seconds``, ``rows``,
        ``operations``. Numbers in place of names: 10,000 trials have half a million intervals.
        """
        text = (
            f"WITH {VALID} SELECT c.place, list_position(?::VARCHAR[], r.phase) - 1 AS phase, "  # noqa: S608 - a name of ours
            f'r.duration_seconds, r."rows", r.operations FROM {self._schema}.intervals r '
            "JOIN counted c USING (trial_id) WHERE list_contains(?::VARCHAR[], r.phase) "
            "AND r.duration_seconds > 0 AND NOT coalesce(r.warmup, false) ORDER BY c.place, r.rowid"
        )
        return self.query(text, [*phases], [*phases])

    def samples_of(self, kinds: Sequence[tuple[str, str, int]]) -> pl.DataFrame:
        """Return the samples of telemetry of valid trials that are numbers, summed over metrics.

        ``kinds``: scope, metric, and the number of the sum that the metric belongs to. Columns: ``sum`` (that number),
        ``place`` (a row of ``ok``), ``seconds``, ``value``. A sample at the boundary of two phases belongs to both and
        counts once.
        """
        text = (
            f"WITH {VALID}, kinds AS (SELECT unnest(?::VARCHAR[]) AS scope, unnest(?::VARCHAR[]) AS metric, "  # noqa: S608 - ours
            'unnest(?::INTEGER[]) AS "sum", unnest(range(?)) AS kind), held AS ('
            'SELECT k."sum", k.kind, c.place, r.seconds, any_value(r.value) AS value FROM telemetry r '
            "JOIN kinds k USING (scope, metric) JOIN counted c USING (trial_id) WHERE isfinite(r.value) GROUP BY ALL) "
            'SELECT "sum", place, seconds, sum(value) AS value FROM held GROUP BY ALL'
        )
        return self.query(text, *([one[part] for one in kinds] for part in range(3)), len(kinds))

    def histograms_of(self, phase: str) -> pl.DataFrame:
        """Return a row for each interval of a phase, without warm-up, that has a histogram; of valid trials only.

        Columns: ``cell``, ``started_seconds``, ``duration_seconds``, ``histogram``.
        """
        text = (
            "SELECT t.cell, r.started_seconds, r.duration_seconds, r.histogram "  # noqa: S608 - a name of ours
            f"FROM {self._schema}.intervals r JOIN trials t USING (trial_id) WHERE t.run_id = ? AND t.status = 'ok' "
            "AND r.phase = ? AND NOT coalesce(r.warmup, false) AND r.histogram IS NOT NULL "
            'ORDER BY t."index", r.rowid'
        )
        return self.query(text, phase)

    def answers(self) -> pl.DataFrame:
        """Return each different answer of trials that count once, with the first trial that gave it.

        ``recorded`` is how many trials gave it. The text of answers is the largest part of a run, so the database
        groups those with the same digest.
        """
        text = (
            "SELECT coalesce(t.dataset_digest, '') AS dataset_digest, t.system, t.arm, r.query_type, r.query_id, "  # noqa: S608 - names of ours
            'r.digest, arg_min(t.trial_id, t."index") AS trial_id, any_value(r.columns) AS columns, '
            f'any_value(r."rows") AS "rows", count(*) AS recorded FROM {self._schema}.answers r '
            "JOIN trials t USING (trial_id) WHERE t.run_id = ? AND t.status = 'ok' GROUP BY ALL "
            'ORDER BY min((t."index", r.rowid))'
        )
        return self.query(text)

    @property
    def _schema(self) -> str:
        """The schema whose tables keep the order of their rows in ``rowid``."""
        from benchbook.record import objects

        return objects.ORDERED if objects.of(self.results) else "main"

    def query(self, text: str, *given: Any) -> pl.DataFrame:
        """Return what a query finds; its parameters are the run's identity and ``given``."""
        from benchbook.record.tables import BATCH_ROWS

        with self.connected() as connection:
            return connection.execute(text, [self.run_id, *given]).pl(BATCH_ROWS)
