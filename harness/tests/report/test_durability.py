"""The report shows the durability of the arm that ran."""

from __future__ import annotations

import json

from benchbook.analyse import rules
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


def test_a_durability_that_was_corrected_after_the_run_is_shown_corrected(made, monkeypatch):
    today = {**words("at every commit"), "corrected": [{"date": "2026-11-26", "reason": "It never synced."}]}
    monkeypatch.setattr(
        rules, "_durability_of_today", lambda _, system, arm: today if system == "sqlite" else {}
    )
    run = made()
    rows = {row[0]: row for row in environment.durability_table(run).rows}
    corrected = rows.pop(run.title("sqlite"))
    assert corrected[2] == "at every commit"
    assert str(corrected[-1]).endswith(" Corrected on 2026-11-26: It never synced.")
    assert rows
    assert not any("corrected" in str(row[-1]) for row in rows.values())


def test_a_correction_that_the_run_declared_is_no_news(made):
    run = made()
    corrected = {**words("never"), "corrected": [{"date": "2026-11-26", "reason": "It never synced."}]}
    arms = {"vanilla": {"durability": corrected, "settings": {}}}
    with database.open(run.results) as connection:
        connection.execute(
            "UPDATE run_facts SET value = ? WHERE topic = 'declared' AND key = 'systems'",
            [json.dumps({"sqlite": {"title": "SQLite", "arms": arms}})],
        )
    rows = environment.durability_table(open_run(run.results, run.run_id)).rows
    assert not any("Durability corrected" in str(row[-1]) for row in rows)


def test_the_durability_of_today_may_be_that_of_the_system(monkeypatch):
    known = {"arms": {"vanilla": {}}, "durability": words("never")}
    monkeypatch.setattr(rules.Catalogue, "unchecked", lambda *_: known)
    rules._durability_of_today.cache_clear()
    assert rules._durability_of_today((), "sqlite", "vanilla") == words("never")
    rules._durability_of_today.cache_clear()
