"""The report shows the durability of the arm that ran."""

from __future__ import annotations

import json

from benchbook.analyse.run import open_run
from benchbook.record import database
from benchbook.report.tables import environment


def words(flush: str) -> dict[str, str]:
    return {"fsync": flush, "wal": "one", "replication": "none", "compression": "none"}


def test_each_arm_has_its_own_line(made):
    run = made()
    arms = {
        "vanilla": {"durability": words("never"), "settings": {}},
        "durable": {"durability": words("at every commit"), "settings": {"synchronous": "FULL"}},
    }
    with database.open(run.results) as connection:
        connection.execute(
            "UPDATE run_facts SET value = ? WHERE topic = 'declared' AND key = 'systems'",
            [json.dumps({"sqlite": {"title": "SQLite", "arms": arms}})],
        )
        durable = "trial_id IN (SELECT trial_id FROM trials WHERE system = 'sqlite' AND block > 0)"
        connection.execute(
            f"UPDATE trials SET arm = 'durable', cell = 'system=sqlite,arm=durable' WHERE {durable}"
        )
        connection.execute(f"UPDATE levels SET level = 'durable' WHERE factor = 'arm' AND {durable}")
    rows = {
        row[1]: row
        for row in environment.durability_table(open_run(run.results, run.run_id)).rows
        if row[0] == "SQLite"
    }
    assert (rows["vanilla"][2], rows["vanilla"][-2]) == ("never", "none")
    assert (rows["durable"][2], rows["durable"][-2]) == ("at every commit", "synchronous = FULL")
