"""``values.json`` of a whole export: the values of the trials that count, for pages.

A browser does not read Parquet. The page of an experiment draws the ratios of these values beside its own
(``report/template/own-run.js``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.record import database, folder
from benchbook.record.runs import Run

FILE = "values.json"
KIND, VERSION = "benchbook-values", 1


def write(results: Path, run: Run, where: Path) -> None:
    """Write the values of a run of ``results`` into the folder ``where``."""
    described = results / "runs" / run.run_id / folder.RUN_FILE
    facts = folder.read_object(described) if described.exists() else {}
    text = (
        "SELECT trial_id, cell, block, phase, metric, value FROM trials JOIN measurements USING (trial_id)"
        " WHERE run_id = ? AND status = 'ok' ORDER BY ALL"
    )
    trials: dict[str, dict[str, Any]] = {}
    with database.open(results, read_only=True) as connection:
        for trial_id, cell, block, phase, metric, value in connection.execute(text, [run.run_id]).fetchall():
            one = trials.setdefault(trial_id, {"cell": cell, "block": block, "values": {}})
            one["values"].setdefault(phase, {})[metric] = value
    folder.write_json(
        where / FILE,
        {
            "kind": KIND, "version": VERSION, "run_id": run.run_id, "experiment": run.experiment,
            "profile": run.profile, "processor": ((facts.get("host") or {}).get("cpu") or {}).get("model"),
            "trials": list(trials.values()),
        },
    )  # fmt: skip
