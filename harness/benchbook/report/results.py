"""A recorded run, opened for a report: its facts and its rows as polars frames."""

from __future__ import annotations

import functools
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbook.errors import RequestError, unknown
from benchbook.report.table import Code, Table, Words, missing

if TYPE_CHECKING:
    import polars as pl


# The runs of a results folder, for the index of reports.

QUERY = """
SELECT r.run_id, r.experiment, r.profile, r.created_at, r.finished_at IS NOT NULL AS finished,
       count(*) FILTER (t.status = 'ok') AS ok, count(t.trial_id) AS recorded
FROM runs r LEFT JOIN trials t USING (run_id) GROUP BY ALL ORDER BY r.created_at DESC, r.run_id
"""


def table(results: Path | None = None) -> Table | Words:
    """Return one row a run, the latest first; a sentence where none is recorded."""
    from benchbook.record import database

    folder = results or Path(os.environ.get(RESULTS_VARIABLE, "results"))
    try:
        with database.open(folder, read_only=True) as connection:
            found = connection.execute(QUERY).fetchall()
    except RequestError:
        found = []
    if not found:
        return missing("The list of runs", "none is recorded yet; start one with: ./bench run quickstart")
    rows = [
        [
            Code(run_id),
            experiment,
            profile,
            f"{created:%Y-%m-%d %H:%M} UTC",
            f"{ok} of {recorded}",
            "yes" if finished else "no",
        ]
        for run_id, experiment, profile, created, finished, ok, recorded in found
    ]
    return Table(["Run", "Experiment", "Profile", "Started", "Trials that count", "Finished"], rows)


# A recorded run, opened for a report: its facts and its rows as polars frames.
#
# The database is opened read-only and only for the length of one query.

RESULTS_VARIABLE = "BENCHBOOK_RESULTS"
"""Environment variable with the results folder, set by ``render`` for the cells of a report."""
RUN_VARIABLE = "BENCHBOOK_RUN"
"""Environment variable with the run's identity; without it the latest run is opened."""
MIX_VARIABLE = "BENCHBOOK_MIX"
"""Set to 1 by whoever wants trials of different data or configurations in one report all the same."""

_PLACE = ("cell", "block", "position")
"""Columns of a trial that say where it stands in the run."""


@dataclass(frozen=True, eq=False)
class Run:
    """One run of the results folder. Frames are read when they are first asked for."""

    results: Path
    run_id: str
    mixed: str = ""
    """What differs between trials that should be alike, where the reader asked to see them together."""
    _frames: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False, compare=False)

    def frame(self, table: str) -> pl.DataFrame:
        """Return the rows of ``table`` that belong to this run, in the order they were recorded."""
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
            text = (
                f"SELECT r.* FROM {where}.{table} r JOIN trials t USING (trial_id) "  # noqa: S608 - a name of ours
                'WHERE t.run_id = ? ORDER BY t."index", r.rowid'
            )
        return self._query(text)

    def answers(self) -> pl.DataFrame:
        """Return each different answer of trials that count once, with the trial that was the first to give it.

        ``recorded`` is how many trials gave it. The text of answers is the largest part of a run, so those with the
        same digest are brought together by the database.
        """
        text = (
            "SELECT coalesce(t.dataset_digest, '') AS dataset_digest, t.system, t.arm, r.query_type, r.query_id, "  # noqa: S608 - names of ours
            'r.digest, arg_min(t.trial_id, t."index") AS trial_id, any_value(r.columns) AS columns, '
            f'any_value(r."rows") AS "rows", count(*) AS recorded FROM {self._schema}.answers r '
            "JOIN trials t USING (trial_id) WHERE t.run_id = ? AND t.status = 'ok' GROUP BY ALL "
            'ORDER BY min((t."index", r.rowid))'
        )
        return self._query(text)

    @property
    def _schema(self) -> str:
        """Where tables have their order of rows as ``rowid``."""
        from benchbook.record import objects

        return objects.ORDERED if objects.of(self.results) else "main"

    def _query(self, text: str) -> pl.DataFrame:
        """Return what a query about this run finds."""
        from benchbook.record import database
        from benchbook.record.tables import BATCH_ROWS

        with database.open(self.results, read_only=True) as connection:
            return connection.execute(text, [self.run_id]).pl(BATCH_ROWS)

    @functools.cached_property
    def info(self) -> dict[str, Any]:
        """The run's row of table ``runs``."""
        return self.frame("runs").row(0, named=True)

    def facts(self, topic: str) -> dict[str, Any]:
        """Return one part of run.json (``host``, ``programs``, ``declared`` …) as key → value."""
        return self._topics.get(topic, {})

    @functools.cached_property
    def _topics(self) -> dict[str, dict[str, Any]]:
        """All parts of run.json, read once: topic → key → value."""
        found: dict[str, dict[str, Any]] = {}
        for topic, key, value in self.frame("run_facts").select("topic", "key", "value").iter_rows():
            found.setdefault(topic, {})[key] = json.loads(value) if value else None
        return found

    def fact_list(self, topic: str) -> list[Any]:
        """Return a part of run.json that is a list (``controls``, ``calibration``), in its order."""
        facts = self.facts(topic)
        return [facts[key] for key in sorted(facts, key=lambda key: int(key) if key.isdigit() else 0)]

    @functools.cached_property
    def ok(self) -> pl.DataFrame:
        """The trials that count: status ``ok``."""
        import polars as pl

        return self.frame("trials").filter(pl.col("status") == "ok")

    def measured(self, phase: str, metric: str) -> pl.DataFrame:
        """Return one row for each ``ok`` trial that measured ``metric`` in ``phase``, with the trial's columns."""
        chosen = self.placed(phase, metric).drop(_PLACE)
        return self.ok.join(chosen, on="trial_id", how="inner", maintain_order="left")

    def placed(self, phase: str, metric: str) -> pl.DataFrame:
        """Return the same rows with the trial's cell, block and position alone."""
        found = self._placed.get((phase, metric))
        return self._none_placed if found is None else found

    @functools.cached_property
    def _placed(self) -> dict[tuple[Any, ...], pl.DataFrame]:
        """The measurements that are numbers, joined and taken apart once: (phase, metric) → rows."""
        import polars as pl

        numbers = self.frame("measurements").filter(pl.col("value").is_finite())
        whole = numbers.join(
            self.ok.select("trial_id", *_PLACE), on="trial_id", how="inner", maintain_order="left"
        )
        return whole.partition_by("phase", "metric", as_dict=True, maintain_order=True)

    @functools.cached_property
    def _none_placed(self) -> pl.DataFrame:
        trials = self.ok.select("trial_id", *_PLACE).clear()
        return self.frame("measurements").clear().join(trials, on="trial_id")

    def phases(self, workload: str) -> list[str]:
        """Return the names of the phases that ran ``workload``, in their order in a trial."""
        import polars as pl

        rows = (
            self.frame("phases").filter(pl.col("workload") == workload).sort("position", maintain_order=True)
        )
        return rows["phase"].unique(maintain_order=True).to_list()


def open_run(results: Path | None = None, run_id: str | None = None) -> Run:
    """Open a run: the one named, else that of the environment, else the latest of the results folder.

    Raises RequestError where there is none, or where trials that should be alike had different
    data or configurations.
    """
    folder = results or Path(os.environ.get(RESULTS_VARIABLE, "results"))
    name = run_id or os.environ.get(RUN_VARIABLE) or None
    run = Run(folder, _known(folder, name))
    found = mixture(run)
    if found and os.environ.get(MIX_VARIABLE) != "1":
        raise RequestError(
            f"Run {run.run_id}: {found}. Numbers of different work are not compared.",
            f"Run the experiment again, or set {MIX_VARIABLE}=1 to see them together, with a warning.",
        )
    return Run(folder, run.run_id, found, run._frames)


def _known(results: Path, run_id: str | None) -> str:
    from benchbook.record import database

    with database.open(results, read_only=True) as connection:
        rows = connection.execute("SELECT run_id FROM runs ORDER BY created_at, run_id").fetchall()
    names = [str(row[0]) for row in rows]
    if not names:
        raise RequestError(f"{results}: no run is recorded there.", "Start one with: bench run quickstart")
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
    trials = run.ok.select("trial_id", "cell", "dataset_digest", "queries_digest", "config_digest").to_dicts()
    work = {row["trial_id"]: "" for row in trials}
    for trial_id, factor, level in run.frame("levels").select("trial_id", "factor", "level").iter_rows():
        if trial_id in work and factor not in ("system", "arm", "storage"):
            work[trial_id] += f"{factor}={level},"
    found = []
    for what, digest, alike in (
        ("dataset", "dataset_digest", lambda row: work[row["trial_id"]]),
        ("query set", "queries_digest", lambda row: work[row["trial_id"]]),
        ("configuration", "config_digest", lambda row: row["cell"]),
    ):
        groups: dict[str, set[str]] = {}
        for row in trials:
            if row[digest]:
                groups.setdefault(alike(row), set()).add(row[digest])
        worst = max((len(digests) for digests in groups.values()), default=0)
        if worst > 1:
            found.append(f"its trials used {worst} different digests of one {what}")
    return "; ".join(found)
