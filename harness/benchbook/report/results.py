"""Table of the runs in a results folder."""

from __future__ import annotations

import os
from pathlib import Path

from benchbook.analyse.run import RESULTS_VARIABLE
from benchbook.errors import RequestError
from benchbook.report.table import Code, Markdown, Table, missing

QUERY = """
SELECT r.run_id, r.experiment, r.profile, r.created_at, r.finished_at IS NOT NULL AS finished,
       count(*) FILTER (t.status = 'ok') AS ok, count(t.trial_id) AS recorded
FROM runs r LEFT JOIN trials t USING (run_id) GROUP BY ALL ORDER BY r.created_at DESC, r.run_id
"""


def table(results: Path | None = None) -> Table | Markdown:
    """Return a row for each run, the latest first; a sentence if there are none."""
    from benchbook.record import database

    folder = results or Path(os.environ.get(RESULTS_VARIABLE, "results"))
    try:
        with database.open(folder, read_only=True) as connection:
            found = connection.execute(QUERY).fetchall()
    except RequestError:
        found = []
    if not found:
        return missing("The list of runs", "there are no runs yet; start one with: ./bench run quickstart")
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
    return Table(["Run", "Experiment", "Profile", "Started", "Valid trials", "Finished"], rows)
